"""A shadow: another algorithm on the samples of a session, to compare with the champion."""

from dataclasses import dataclass, replace
from typing import Any

from llr import Loss
from llr_service.sessions.learners import AnyLearner


@dataclass(frozen=True)
class Mark:
    """From where a shadow is compared: t of the session, and what the loss of both was then."""

    since: int = 0
    champion: float = 0.0
    own: float = 0.0


@dataclass
class Shadow:
    """A learner beside the champion.

    Attributes:
        learner: what it has learnt.
        start: at which t of the session it began.
        mark: from where it is compared with the champion.
        diverged: at which t of the session its next step would have left the finite numbers, so
            that it learns no more; None as long as it does.
    """

    learner: AnyLearner
    start: int = 0
    mark: Mark = Mark()
    diverged: int | None = None

    def view(self) -> "Shadow":
        """Another one at the present state; one of the two may go on."""
        return replace(self, learner=self.learner.view())

    def copy(self) -> "Shadow":
        """One in the same state that goes its own way."""
        return replace(self, learner=self.learner.copy())

    def learn(self, *samples: Any) -> None:
        """Learn like the champion, or as far as it goes."""
        if self.diverged is None and not self.learner.learn(*samples):
            self.diverged = self.start + self.learner.t

    def lead(self, champion: Loss, t: int) -> float | None:
        """By how much its mean loss is below the champion's, on the samples both were judged on."""
        n = t - self.mark.since
        if self.diverged is not None or n == 0:
            return None
        theirs, own = champion.total - self.mark.champion, self.learner.loss.total - self.mark.own
        return (theirs - own) / n

    def compared(self, champion: Loss, t: int) -> "Shadow":
        """The same, compared with the champion from now on."""
        return replace(self, mark=Mark(t, champion.total, self.learner.loss.total))
