"""What was measured on the synthetic streams, seed by seed, and the regrets that follow."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bench.league import score
from bench.league.ours import CONSTANT, FIXED
from bench.league.score import Tuned


class Sweep(NamedTuple):
    """The mean loss over some seeds at each step size."""

    seeds: tuple[int, ...]
    losses: dict[float, float]


@dataclass
class Results:
    """Losses of learners on streams.

    Attributes:
        seeds: the streams' seeds.
        least: the loss that regret is counted from, by stream and seed.
        losses: at default, by learner, stream and seed.
        sweeps: by learner and stream.
    """

    seeds: tuple[int, ...]
    least: dict[tuple[str, int], float] = field(default_factory=dict)
    losses: dict[tuple[str, str, int], float] = field(default_factory=dict)
    sweeps: dict[tuple[str, str], Sweep] = field(default_factory=dict)

    def learners(self) -> list[str]:
        """Who ran at default, in the order of coming."""
        return list(dict.fromkeys(learner for learner, _, _ in self.losses))

    def swept(self) -> list[str]:
        """Who was swept, in the order of coming."""
        return list(dict.fromkeys(learner for learner, _ in self.sweeps))

    def loss(self, learner: str, name: str, seeds: Sequence[int] = ()) -> float:
        """The mean loss at default."""
        return score.average(self.losses[learner, name, seed] for seed in seeds or self.seeds)

    def floor(self, name: str, seeds: Sequence[int] = ()) -> float:
        """The mean loss that regret is counted from."""
        return score.average(self.least[name, seed] for seed in seeds or self.seeds)

    def regret(self, learner: str, name: str, seeds: Sequence[int] = ()) -> float:
        """The mean regret at default."""
        return self.loss(learner, name, seeds) - self.floor(name, seeds)

    def curve(self, learner: str, name: str) -> dict[float, float]:
        """The mean regret at each step size that was tried."""
        sweep = self.sweeps[learner, name]
        floor = self.floor(name, sweep.seeds)
        return {rate: loss - floor for rate, loss in sweep.losses.items()}

    def tuned(self, learner: str, name: str) -> Tuned:
        """The least regret over its sweep."""
        return score.best(self.curve(learner, name))

    def better(self, name: str) -> float:
        """The regret of the better of both tuned SG."""
        return min(self.tuned(FIXED, name).value, self.tuned(CONSTANT, name).value)
