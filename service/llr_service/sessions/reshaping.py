"""Changing the team of a session: in turn, durable, and never by halves."""

from collections.abc import Callable
from typing import NamedTuple

from llr_service.problems import Problem
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Expected
from llr_service.sessions.config import ShadowConfig
from llr_service.sessions.roster import added, config_now, promoted, removed
from llr_service.sessions.team import Team
from llr_service.sessions.waiting import durable


class Reshaped(NamedTuple):
    """The copy of the session that has the team as it was wanted, and whether it was changed."""

    session: Session
    changed: bool


async def add(
    name: str, shadow: ShadowConfig, if_match: Expected | None, session: Session
) -> Reshaped:
    """Add a shadow. A Problem if there is another one of that name."""

    def with_it(team: Team) -> Team | None:
        known = config_now(session.config, team).shadows.get(name)
        if known == shadow:
            return None
        if known is not None:
            detail = "choose another name, or remove that shadow first"
            raise Problem("shadow-exists", detail, config=known.model_dump())
        session.config.check_shadow(shadow, session.settings.max_dim, team.dim)
        return added(team, name, session.config, shadow)

    return await _reshape(session, with_it, if_match)


async def remove(name: str, if_match: Expected | None, session: Session) -> Reshaped:
    """Remove a shadow. A Problem if there is none of that name."""
    return await _reshape(session, lambda team: removed(team, name), if_match)


async def promote(name: str, if_match: Expected | None, session: Session) -> Reshaped:
    """Make a shadow the champion unless it is. A Problem if there is no such shadow."""

    def with_it(team: Team) -> Team | None:
        return None if team.name == name else promoted(team, name)

    return await _reshape(session, with_it, if_match)


def stored(reshaped: Reshaped) -> bool:
    """Whether something was changed, and so was stored."""
    return reshaped.changed


async def _reshape(
    session: Session, change: Callable[[Team], Team | None], if_match: Expected | None
) -> Reshaped:
    """Change a team, None for no change; returns when it is durable.

    What changes nothing is a retry: it succeeds wherever the session is.
    """
    with session.turns.attended():
        async with session.turns.line():
            session.check()
            if session.ahead is None:
                detail = "the first sample has to tell dim: send it before, or create with shadows"
                raise Problem("invalid", detail)
            changed = change(session.ahead)
            if changed is not None:
                session.check(if_match)
                changed.version = session.ahead.version + 1
            commit = session.journal.last if changed is None else session.renew(changed)
        if commit is not None:
            await durable(commit)
    return Reshaped(session, changed is not None)
