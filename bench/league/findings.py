"""Everything a run of the league has found, and the figures that were to be reached."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bench.league import drifting, score
from bench.league.jobs import Hostile
from bench.league.ours import FIXED, PAPERS
from bench.league.rounds import AUTO, FIRST_ORDER, HURT, Ablated
from bench.league.score import Results
from bench.markdown import number

RIVALS = ("river scaled", "VW")
"""Whom `auto` has to beat on real data."""

STREAMS = {"linear": 18, "scales": 30, "logistic": 8, "gaussian-jump": 120, "bernoulli-jump": 18}
"""The most regret on some of the fifteen streams."""

NOISE, MOST_ON_NOISE = HURT[-1], 1.004
"""The most loss on pure noise by that of predicting 0."""

CLEARLY = ("heavy-tailed features (Student t2)", HURT[1], "a jump every 500 samples")
"""Hostile streams on which the filters have to do clearly better than the first order alone."""

CLASSES = {"digits": 0.24, "ImageSegments": 0.34}
"""The most mean loss of softmax."""

MOST_COST = {"auto, d = 10, exact regret": 1.2, "auto, d = 50, exact regret": 5.0}
"""µs a sample."""


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
        cost: ns a sample, by learner and features.
        beyond: what `auto` loses on a long stationary stream beyond its own filter that forgets
            nothing, by samples so far.
        quality: river's table of metrics, by track, set and model.
    """

    choosing: Results | None
    confirming: Results
    hostile: dict[str, list[Hostile]]
    ablated: Ablated
    real: dict[str, dict[str, float]]
    theta: dict[str, float]
    cost: dict[str, float]
    beyond: dict[int, float]
    quality: dict[tuple[int, str, str], list[float]]


class Summary(NamedTuple):
    """A learner on the fifteen streams: ratios of regret, and of the worst total loss.

    The last two are ratios in which a regret below 0 counts as it is, down to −1.
    """

    fixed: float
    even: float
    better: float
    worst: float
    where: str
    fixed_as_it_is: float
    better_as_it_is: float


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
    plain = [score.compare(regrets, target, score.ratio_as_it_is) for target in (fixed, better)]
    return Summary(means[0], means[1], means[2], worst, where, plain[0], plain[1])


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


def against_first_order(results: Sequence[Hostile]) -> float:
    """`auto`'s loss on a hostile stream by that of its first order alone."""
    return score.average(one.auto / one.first for one in results)


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
            "the first of these, a regret below 0 as it is (down to −1)",
            0.088,
            chosen and chosen.fixed_as_it_is,
            ours.fixed_as_it_is,
        ),
        _ratio(
            "the third of these, likewise",
            0.142,
            chosen and chosen.better_as_it_is,
            ours.better_as_it_is,
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
    noise = against_nothing(found.hostile[NOISE])
    theta = max(size for learner, size in found.theta.items() if learner.startswith(AUTO))
    what = "α = 10⁸ quadratic: largest size of θ, from 1"
    return [
        _ratio(f"{NOISE}: loss against predicting 0", MOST_ON_NOISE, None, noise),
        *_of_filters(found),
        Target(what, "≤ 1", "", number(theta), theta <= 1.0),
        *_of_real(found),
        *_of_cost(found),
    ]


def _of_filters(found: Findings) -> list[Target]:
    """The filters beside the first order alone, and beside one filter."""
    by = {name: against_first_order(each) for name, each in found.hostile.items()}
    worst = max(by, key=lambda name: by[name])
    lines = [_ratio(f"hostile streams by the first order (worst: {worst})", 1.01, None, by[worst])]
    lines += [_ratio(f"{name}: by the first order", 0.9, None, by[name]) for name in CLEARLY]
    ours, first = found.real[AUTO], found.real[FIRST_ORDER]
    apart = {name: ours[name] / first[name] for name in ours}
    worst = max(apart, key=lambda name: apart[name])
    lines.append(_ratio(f"real sets by the first order (worst: {worst})", 1.02, None, apart[worst]))
    samples, nats = list(found.beyond.items())[-1]
    what = f"{samples:,} stationary samples: nats beyond its own λ = 1 filter"
    lines.append(Target(what, "≤ 6", "", number(nats), nats <= 6.0))
    return lines


def _of_real(found: Findings) -> list[Target]:
    lines = [
        _ratio(f"{name}: mean loss", most, None, found.real[AUTO][name])
        for name, most in CLASSES.items()
    ]
    real = on_real(found)
    if not real:
        return lines
    better = sum(ratio < 1.0 for ratio in real.values())
    worst = max(real, key=lambda name: real[name])
    what, reached = "real sets with less loss than river scaled and VW", f"{better} of {len(real)}"
    return [
        *lines,
        Target(what, "5 of 6", "", reached, better >= 5 / 6 * len(real)),
        _ratio(f"the worst of them (here: {worst})", 1.05, None, real[worst]),
    ]


def _of_cost(found: Findings) -> list[Target]:
    return [
        _ratio(f"cost of a sample, µs: {what}", most, None, found.cost[what] / 1000.0)
        for what, most in MOST_COST.items()
    ]
