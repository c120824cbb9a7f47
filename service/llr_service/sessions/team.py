"""What learns in a session: a champion, the shadows beside it, and a look-out for drift.

The champion answers and predicts. Each sample goes to all of them, and they are stored as one.
"""

from dataclasses import dataclass, field
from typing import Any

from llr import Drift, History, Outcome
from llr_service.sessions.learners import AnyLearner, dim_of
from llr_service.sessions.shadow import Shadow


@dataclass
class Team:
    """A champion and its company. One thread at a time.

    Attributes:
        champion: whose θ and η are the session's.
        start: at which t of the session the champion began: after 0 if it came as a shadow.
        shadows: by name.
        drift: whether the champion's loss rises; None if nobody looks.
        name: under which the champion was a shadow, None if it never was.
        former: under which the champion before it is a shadow since, None if there was none.
        version: how often shadows were added, removed or promoted.

    >>> from llr import Learner
    >>> rival = Shadow(Learner("gaussian", algorithm="sg"))
    >>> team = Team(Learner("gaussian"), shadows={"rival": rival})
    >>> bool(team.learn([4.0, 5.0])), team.t, rival.learner.t
    (True, 2, 2)
    """

    champion: AnyLearner
    start: int = 0
    shadows: dict[str, Shadow] = field(default_factory=dict)
    drift: Drift | None = None
    name: str | None = None
    former: str | None = None
    version: int = 0

    @property
    def t(self) -> int:
        """Samples the session has learnt."""
        return self.start + self.champion.t

    @property
    def dim(self) -> int | None:
        """Number of features, None until the first sample tells; NAMED if they have names."""
        return dim_of(self.champion)

    @property
    def history(self) -> History:
        """The past of the champion, by t of the session."""
        return since(self.start, self.champion.history)

    @property
    def nbytes(self) -> int:
        """How much memory the states take."""
        size = self.champion.nbytes
        if self.drift is not None:
            size += self.drift.nbytes
        for shadow in self.shadows.values():
            size += shadow.learner.nbytes
        return size

    def learn(self, *samples: Any, predictions: bool = False) -> Outcome:
        """Learn from samples, all of the team. A team whose champion diverged is not to be used."""
        outcome = self.champion.learn(*samples, predictions=predictions, excess=bool(self.drift))
        if not outcome:
            return outcome
        if self.drift is not None and outcome.excess is not None:
            self.drift.watch(outcome.excess)
        for shadow in self.shadows.values():
            shadow.learn(*samples)
        return outcome

    def view(self) -> "Team":
        """Another team at the present state, at no cost; one of the two may go on."""
        return Team(
            self.champion.view(),
            self.start,
            {name: shadow.view() for name, shadow in self.shadows.items()} if self.shadows else {},
            self.drift.view() if self.drift else None,
            self.name,
            self.former,
            self.version,
        )

    def copy(self) -> "Team":
        """A team in the same state that goes its own way."""
        twin = self.view()
        twin.champion = self.champion.copy()
        twin.shadows = {name: shadow.copy() for name, shadow in self.shadows.items()}
        return twin

    def watched(self, drift: bool) -> "Team":
        """The same team, with or without somebody to look out for drift from now on."""
        if drift != (self.drift is not None):
            self.drift = Drift(self.t) if drift else None
        return self


def since(start: int, past: History) -> History:
    """A past by t of the session, of a learner that began at `start`."""
    return past._replace(t=past.t + start)
