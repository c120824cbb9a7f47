"""The step of a session: its team learns, and what is wrong is told in the caller's terms."""

from collections.abc import Iterator
from contextlib import contextmanager

from llr import Outcome, SampleError
from service.problems import Problem
from service.sessions.batch import Fresh
from service.sessions.learners import check_kind
from service.sessions.team import Team


def learn(team: Team, fresh: Fresh, predictions: bool) -> Outcome:
    """Learn from what is of the team's kind."""
    with placed(fresh):
        check_kind(team.champion, fresh.samples.X)
        return team.learn(*fresh.samples.arguments, predictions=predictions)


@contextmanager
def placed(fresh: Fresh) -> Iterator[None]:
    """What is wrong with a sample is told by its place."""
    try:
        yield
    except SampleError as wrong:
        number = "" if wrong.index is None else f"/{fresh.places[wrong.index]}"
        errors = [{"pointer": f"{number}/{wrong.field}", "detail": wrong.reason}]
        raise Problem("invalid", f"{wrong}", errors) from None


def advice(at: int) -> str:
    """What to do when the sample at t makes a session diverge."""
    return (
        f"sample {at} of the session would make it leave the finite numbers; nothing of this body "
        "was learnt. Create the session again with a smaller eta0, or scale the samples"
    )
