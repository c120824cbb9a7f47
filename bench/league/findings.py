"""Everything a run of the league has found, and the figures that were to be reached."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bench.league import drifting, score
from bench.league.jobs import Hostile
from bench.league.ours import FIXED, PAPERS
from bench.league.rounds import AUTO, HURT, Ablated
from bench.league.score import Results
from bench.markdown import number

RIVALS = ("river scaled", "VW")
"""Whom `auto` has to beat on real data."""

STREAMS = {"linear": 18, "scales": 30, "logistic": 8, "gaussian-jump": 120, "bernoulli-jump": 18}
"""The most regret on some of the fifteen streams."""

BY_NOTHING = dict(zip(HURT, (1.02, 1.02, 1.004), strict=True))
"""The most loss on hostile streams by that of predicting 0."""


@dataclass
class Findings:
    """What was measured.

    Attributes:
        choosing: on the seeds that constants were chosen on; None in a quick run.
        confirming: on the other seeds, with the peers.
        hostile: on hostile streams, a result a seed.
        ablated: losses without a part, by stream and seed.
        real: mean losses on real data, by learner and set.
        theta: the largest |θ| on the quadratic of 10⁸, by learner.
        cost: ns a sample at d = 50, by learner.
    """

    choosing: Results | None
    confirming: Results
    hostile: dict[str, list[Hostile]]
    ablated: Ablated
    real: dict[str, dict[str, float]]
    theta: dict[str, float]
    cost: dict[str, float]


class Summary(NamedTuple):
    """A learner on the fifteen streams: ratios of regret, and of the worst total loss."""

    fixed: float
    even: float
    better: float
    worst: float
    where: str


class Target(NamedTuple):
    """A figure to reach, and the one that was."""

    what: str
    wanted: str
    choosing: str
    reached: str
    yes: bool


def summary(results: Results, regrets: dict[str, float]) -> Summary:
    """What these regrets amount to beside tuned SG."""
    fixed = {name: results.tuned(FIXED, name).value for name in drifting.NAMES}
    even = {name: value for name, value in fixed.items() if not name.startswith("scales")}
    better = {name: results.better(name) for name in drifting.NAMES}
    floor = {name: results.floor(name) for name in drifting.NAMES}
    worst, where = score.worst(
        {name: regrets[name] + floor[name] for name in floor},
        {name: better[name] + floor[name] for name in floor},
    )
    means = [score.compare(regrets, target) for target in (fixed, even, better)]
    return Summary(means[0], means[1], means[2], worst, where)


def of_learner(results: Results, learner: str) -> Summary:
    """The same for a learner at its default."""
    return summary(results, {name: results.regret(learner, name) for name in drifting.NAMES})


def of_ablation(found: Findings, what: str) -> Summary:
    """The same with a part taken away; of several variants, the worst on each stream."""
    results = found.confirming
    regrets = {}
    for name in drifting.NAMES:
        seeds = [found.ablated[name, seed][what] for seed in results.seeds]
        variants = [score.average(losses) for losses in zip(*seeds, strict=True)]
        regrets[name] = max(variants) - results.floor(name)
    return summary(results, regrets)


def against_nothing(results: Sequence[Hostile]) -> float:
    """`auto`'s loss on a hostile stream by that of predicting 0."""
    return score.average(one.auto / one.nothing for one in results)


def leaders(found: Findings) -> dict[str, tuple[float, str]]:
    """The best peer at default on each stationary stream: its regret and name."""
    results = found.confirming
    others = [learner for learner in results.learners() if learner not in {AUTO, *PAPERS}]
    return {
        name: min(
            (regret, learner)
            for learner in others
            if not math.isnan(regret := results.regret(learner, name))
        )
        for name in drifting.STATIONARY
        if others
    }


def on_real(found: Findings) -> dict[str, float]:
    """`auto`'s loss on each real set by that of the best rival."""
    rivals = [found.real[name] for name in RIVALS if name in found.real]
    ours = found.real[AUTO]
    return {name: ours[name] / min(rival[name] for rival in rivals) for name in ours if rivals}


def targets(found: Findings) -> list[Target]:
    """The figures to reach: the fifteen streams, the peers, then everything else."""
    ours = of_learner(found.confirming, AUTO)
    chosen = of_learner(found.choosing, AUTO) if found.choosing else None
    lines = [
        _ratio("regret against tuned SG 1/f(t)", 0.088, chosen and chosen.fixed, ours.fixed),
        _ratio("the same without the scales streams", 0.55, chosen and chosen.even, ours.even),
        _ratio(
            "regret against the better of both tuned SG",
            0.142,
            chosen and chosen.better,
            ours.better,
        ),
        _ratio(
            f"worst total loss against that better one (here: {ours.where})",
            1.005,
            chosen and chosen.worst,
            ours.worst,
        ),
    ]
    return lines + _of_streams(found) + _of_peers(found) + _of_others(found)


def _of_streams(found: Findings) -> list[Target]:
    lines = []
    for name, most in STREAMS.items():
        before = number(found.choosing.regret(AUTO, name)) if found.choosing else ""
        ours = found.confirming.regret(AUTO, name)
        reached = ours <= most
        lines.append(Target(f"regret on {name}", f"≤ {most:g}", before, number(ours), reached))
    return lines


def _ratio(what: str, most: float, chosen: float | None, reached: float) -> Target:
    before = "" if chosen is None else f"{chosen:.3f}"
    return Target(what, f"≤ {most:g}", before, f"{reached:.3f}", reached <= most)


def _of_peers(found: Findings) -> list[Target]:
    lines = []
    for name, (best, who) in leaders(found).items():
        ours = found.confirming.regret(AUTO, name)
        reached = f"{number(ours)}; {who} {number(best)}"
        close = ours <= best or score.ratio(ours, best) <= 1.1
        wanted = "first, or within 10 %"
        lines.append(Target(f"defaults on {name}: regret", wanted, "", reached, close))
    return lines


def _of_others(found: Findings) -> list[Target]:
    lines = [
        _ratio(
            f"{name}: loss against predicting 0", most, None, against_nothing(found.hostile[name])
        )
        for name, most in BY_NOTHING.items()
    ]
    theta = max(size for learner, size in found.theta.items() if learner.startswith(AUTO))
    lines.append(
        Target(
            "α = 10⁸ quadratic: largest size of θ, from 1", "≤ 1", "", number(theta), theta <= 1.0
        )
    )
    real = on_real(found)
    if real:
        better = sum(ratio < 1.0 for ratio in real.values())
        worst = max(real, key=lambda name: real[name])
        lines += [
            Target(
                "real sets with less loss than river scaled and VW",
                "5 of 6",
                "",
                f"{better} of {len(real)}",
                better >= 5 / 6 * len(real),
            ),
            _ratio(f"the worst of them (here: {worst})", 1.05, None, real[worst]),
        ]
    cost, beside = found.cost[AUTO] / 1000.0, found.cost["sg/ag"] / 1000.0
    what = f"cost of a sample at d = 50, µs (sg/ag: {beside:.2f})"
    return [*lines, _ratio(what, 5.0, None, cost)]
