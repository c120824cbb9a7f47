"""What the paper's Section 3 says its figures show, measured on many seeds, a row a sentence."""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from llr_cli.replay.experiments import DECADES, FIXED, LEARNT, MODELS, STEEP, power
from llr_cli.replay.runs import STEEPER, Course, Ensemble, learn, plan

CLOSE = 0.3
"""How near θ, or the paper's entry of θᵀM, has to end to count as near the maximum likelihood."""
NAMES = {"gaussian": "Gaussian", "bernoulli": "coin", "regression": "regression"}
WORDS = {"sg": "SG", "svrg": "SVRG", "sg/ag": "SG/AG", "svrg/ag": "SVRG/AG"}
SMALL, LARGE = DECADES[:3], DECADES[-3:]


class Claim(NamedTuple):
    """One sentence of the paper and what came of it.

    Attributes:
        says: the paper, in short.
        measured: what was counted or measured.
        found: the number, with its spread.
        verdict: "holds", "partly" or "not".
    """

    says: str
    measured: str
    found: str
    verdict: str


def judge(every: Ensemble) -> list[Claim]:
    """All claims, in the order of the paper."""
    rules: list[Callable[[Ensemble], Iterable[Claim]]] = [
        _closer_to_each_other,
        _low_steps_are_slow,
        _svrg_is_better,
        _svrg_may_oscillate,
        _close_to_the_ml,
        _oscillations_are_damped,
        _less_decisive_on_the_regression,
        _fixed_regrets_rise,
        _learnt_regrets_stagnate,
        _regression_regrets_go_on,
        _less_regret_on_the_regression,
        _log_eta_stagnates,
        _longer_on_the_regression,
        _poor_starts_are_rescued,
        _small_starts_are_better,
        _unstable_above,
        _the_quadratic,
    ]
    return [claim for rule in rules for claim in rule(every)]


def verdict(share: float) -> str:
    """A share of cases in a word.

    >>> verdict(0.95), verdict(0.5), verdict(0.1)
    ('holds', 'partly', 'not')
    """
    if share >= 0.9:
        return "holds"
    return "partly" if share >= 0.3 else "not"


def spread(values: Iterable[float]) -> str:
    """A median with its quartiles.

    >>> spread([1.0, 2.0, 3.0, 4.0, 5.0])
    '3 (2 to 4)'
    """
    finite = [value if math.isfinite(value) else math.inf for value in values]
    low, middle, high = np.percentile(finite, [25, 50, 75], method="nearest")
    return f"{middle:.2g} ({low:.2g} to {high:.2g})"


def _counted(says: str, measured: str, cases: Iterable[bool]) -> Claim:
    found = [*cases]
    share = sum(found) / max(len(found), 1)
    return Claim(says, measured, f"{sum(found)} of {len(found)}", verdict(share))


def _closer_to_each_other(every: Ensemble) -> Iterable[Claim]:
    for stream in MODELS:
        widths: dict[str, list[float]] = {}
        for algorithm in (*FIXED, *LEARNT):
            courses = [c for c in every.of(stream, algorithm) if not c.diverged]
            for seed in range(every.seeds):
                ends = [float(c.shown[-1]) for c in courses if c.experiment.seed == seed]
                low, high = np.percentile(ends, [25, 75], method="nearest")
                widths.setdefault(algorithm, []).append(high - low)
        pairs = zip(FIXED, LEARNT, strict=True)
        cases = [
            ours < theirs
            for fixed, learnt in pairs
            for ours, theirs in zip(widths[learnt], widths[fixed], strict=True)
        ]
        share = sum(cases) / len(cases)
        spreads = ", ".join(f"{WORDS[a]} {np.median(widths[a]):.2g}" for a in (*FIXED, *LEARNT))
        yield Claim(
            "trajectories are much closer to each other with LLR",
            f"{NAMES[stream]}: quartile range of the ends over η₀, less than without LLR",
            f"{sum(cases)} of {len(cases)}; {spreads}",
            verdict(share),
        )


def _low_steps_are_slow(every: Ensemble) -> Iterable[Claim]:
    cases = [c.gap > CLOSE for s in MODELS for c in every.of(s, "sg", SMALL)]
    measured = f"SG from 10⁻⁵ to 10⁻³, all streams: ends more than {CLOSE} from the ML"
    yield _counted("low values of η converge dramatically slowly", measured, cases)


def _svrg_is_better(every: Ensemble) -> Iterable[Claim]:
    near = {a: sum(c.gap < CLOSE for s in MODELS for c in every.of(s, a)) for a in FIXED}
    total = len(MODELS) * len(every.of("gaussian", "sg"))
    found = f"SVRG {near['svrg']}, SG {near['sg']} of {total}"
    yield Claim(
        "SVRG performs noticeably better than SG",
        f"runs that end within {CLOSE} of the ML, all streams and η₀",
        found,
        "holds" if near["svrg"] > 1.2 * near["sg"] else "not",
    )


def _svrg_may_oscillate(every: Ensemble) -> Iterable[Claim]:
    moves = [c.wobble for c in every.of("bernoulli", "svrg", [10.0])]
    share = float(np.mean(np.array(moves) > 0.1))
    measured = "coin, SVRG with η = 10: mean |θ(t+1) − θ(t)| over the second half"
    yield Claim("SVRG may start to oscillate", measured, spread(moves), verdict(share))
    swings = [
        c.diverged or bool(c.shown.min() < -10.0 and c.shown.max() > 10.0)
        for c in every.of("regression", "svrg", [1e-3])
    ]
    measured = "regression, SVRG with η = 10⁻³: passes both −10 and 10"
    yield _counted("SVRG may start to oscillate", measured, swings)


def _close_to_the_ml(every: Ensemble) -> Iterable[Claim]:
    for stream in MODELS:
        measured = f"{NAMES[stream]}, SG/AG from 10⁻⁵ to 10: ends within {CLOSE} of the ML"
        cases = (c.gap < CLOSE for c in every.of(stream, "sg/ag"))
        yield _counted("almost every trajectory gets close to the ML", measured, cases)


def _oscillations_are_damped(every: Ensemble) -> Iterable[Claim]:
    pairs = zip(
        every.of("bernoulli", "svrg/ag", [10.0]), every.of("bernoulli", "svrg", [10.0]), strict=True
    )
    ratios = [learnt.wobble / fixed.wobble for learnt, fixed in pairs]
    damped = sum(ratio < 0.1 for ratio in ratios)
    yield Claim(
        "SVRG/AG damps the oscillations overwhelmingly",
        "coin, η₀ = 10: SVRG/AG's moves over SVRG's; how often below a tenth",
        f"{spread(ratios)}; {damped} of {len(ratios)}",
        verdict(damped / len(ratios)),
    )


def _less_decisive_on_the_regression(every: Ensemble) -> Iterable[Claim]:
    near = {
        (s, a): sum(c.gap < CLOSE for c in every.of(s, a)) for s in MODELS for a in ("sg", "sg/ag")
    }
    total = len(every.of("gaussian", "sg"))
    gains = {s: near[s, "sg/ag"] - near[s, "sg"] for s in MODELS}
    yield Claim(
        "improvements for SG are less decisive on the regression",
        f"runs within {CLOSE} of the ML that SG/AG has more than SG",
        ", ".join(f"{NAMES[s]} {gain}" for s, gain in gains.items()) + f" of {total}",
        "holds" if gains["regression"] < min(gains["gaussian"], gains["bernoulli"]) else "not",
    )


def _fixed_regrets_rise(every: Ensemble) -> Iterable[Claim]:
    cases = [c.rise > 0.0 for s in MODELS for a in FIXED for c in every.of(s, a)]
    measured = "SG and SVRG, all streams and η₀: regret grows over the second half"
    yield _counted("the regrets of SG and SVRG all go upwards", measured, cases)


def _learnt_regrets_stagnate(every: Ensemble) -> Iterable[Claim]:
    for stream in ("gaussian", "bernoulli"):
        for algorithm in LEARNT:
            cases = [
                not c.diverged and c.rise < 0.1 * max(c.at_half(c.regret), 1.0)
                for c in every.of(stream, algorithm)
            ]
            measured = (
                f"{NAMES[stream]}, {WORDS[algorithm]}: the second half adds less than a tenth"
            )
            yield _counted("LLR's regrets stagnate strikingly quickly", measured, cases)


def _regression_regrets_go_on(every: Ensemble) -> Iterable[Claim]:
    for algorithm in LEARNT:
        cases = [c.rise >= 0.1 * c.at_half(c.regret) for c in every.of("regression", algorithm)]
        measured = f"regression, {WORDS[algorithm]}: the second half adds a tenth or more"
        yield _counted("on the regression the regrets do not stagnate", measured, cases)


def _less_regret_on_the_regression(every: Ensemble) -> Iterable[Claim]:
    for fixed, learnt in zip(FIXED, LEARNT, strict=True):
        pairs = zip(every.of("regression", learnt), every.of("regression", fixed), strict=True)
        measured = f"regression, {WORDS[learnt]} and {WORDS[fixed]} from the same η₀: less regret"
        cases = [one.end < other.end or other.diverged > one.diverged for one, other in pairs]
        yield _counted("on the regression LLR is still significantly better", measured, cases)


def _log_eta_stagnates(every: Ensemble) -> Iterable[Claim]:
    for stream in ("gaussian", "bernoulli"):
        cases = [
            abs(c.log_eta[-1] - c.at_half(c.log_eta)) < math.log(2.0)
            for a in LEARNT
            for c in every.of(stream, a)
            if not c.diverged
        ]
        measured = f"{NAMES[stream]}, both: η changes less than 2 times over the second half"
        yield _counted("log η stagnates quite quickly", measured, cases)


def _settled_at(course: Course) -> float:
    """The share of the samples after which η stays within 2 times of where it ends."""
    off = np.abs(course.log_eta - course.log_eta[-1]) > math.log(2.0)
    last = int(np.flatnonzero(off)[-1]) + 1 if off.any() else 0
    return float(course.t[last]) / float(course.t[-1])


def _longer_on_the_regression(every: Ensemble) -> Iterable[Claim]:
    for algorithm in LEARNT:
        times = {
            s: [_settled_at(c) * c.experiment.samples for c in every.of(s, algorithm, SMALL)]
            for s in ("gaussian", "regression")
        }
        longer = float(np.median(times["regression"])) > float(np.median(times["gaussian"]))
        yield Claim(
            "on the regression the convergence of log η takes longer",
            f"{WORDS[algorithm]} from 10⁻⁵ to 10⁻³: samples until η stays within 2 times its end",
            f"{spread(times['regression'])}; Gaussian {spread(times['gaussian'])}",
            "holds" if longer else "not",
        )


def _poor_starts_are_rescued(every: Ensemble) -> Iterable[Claim]:
    for stream in MODELS:
        cases: list[bool] = []
        for fixed, learnt in zip(FIXED, LEARNT, strict=True):
            best = every.best(stream, fixed)
            tuned = {c.experiment.seed: c for c in every.of(stream, fixed, [best])}
            poor = [x for x in DECADES if max(x / best, best / x) >= 9.99]
            for course in every.of(stream, learnt, poor):
                other = tuned[course.experiment.seed]
                gap = abs(float(course.shown[-1]) - float(other.shown[-1]))
                cases.append(not course.diverged and gap < CLOSE)
        measured = f"{NAMES[stream]}, η₀ ten times off or more: ends within {CLOSE} of hand-tuned"
        yield _counted("poor η₀ and hand-tuned η are pretty much the same", measured, cases)


def _small_starts_are_better(every: Ensemble) -> Iterable[Claim]:
    for stream in MODELS:
        near = [
            sum(c.gap < CLOSE for a in LEARNT for c in every.of(stream, a, starts))
            for starts in (SMALL, LARGE)
        ]
        total = sum(len(every.of(stream, a, SMALL)) for a in LEARNT)
        yield Claim(
            "much more efficient at small η₀ than at large",
            f"{NAMES[stream]}: near the ML from 10⁻⁵ to 10⁻³, and from 0.1 to 10",
            f"{near[0]} and {near[1]} of {total}",
            "holds" if near[0] > near[1] else "not" if near[0] < near[1] else "partly",
        )


def _unstable_above(every: Ensemble) -> Iterable[Claim]:
    cases = [c.diverged for a in FIXED for c in every.of(STEEPER, a, [STEEP])]
    measured = f"quadratic of 10⁸, SG and SVRG with η = {power(STEEP)}, above it: diverge"
    yield _counted("SG is stable only if η/2f is below 1/α", measured, cases)


def _the_quadratic(every: Ensemble) -> Iterable[Claim]:
    for algorithm in LEARNT:
        for course in every.of(STEEPER, algorithm, [STEEP]):
            damping = np.sqrt(course.t + 2.0) * np.log(course.t + 3.0)
            own = damping if algorithm == "sg/ag" else np.ones_like(damping)  # SVRG has no f (R7)
            stable = np.exp(course.log_eta) / (2.0 * own) < 1e-8
            first = int(course.t[np.argmax(stable)]) if stable.any() else None
            name, ratio = WORDS[algorithm], "η/2f" if algorithm == "sg/ag" else "its own η/2"
            yield Claim(
                "the ratio η/2f converges quickly towards 1/α",
                f"quadratic of 10⁸, {name} from {power(STEEP)}: first t with {ratio} below 1/α",
                f"t = {first}",
                "holds" if first is not None and first < 50 else "not",
            )
            later = course.log_eta[np.argmax(stable) :]
            change = math.exp(float(later.max() - later.min()))
            yield Claim(
                "then η stays nearly constant",
                f"quadratic of 10⁸, {name}: largest over least η after that",
                f"{change:.3g}",
                "holds" if change < 2.0 else "partly" if change < 10.0 else "not",
            )
            yield Claim(
                "θ takes very large values before it converges to 0",
                f"quadratic of 10⁸, {name}: largest |θ|, and |θ| at the end",
                f"{course.largest:.2g}, {abs(course.shown[-1]):.2g}",
                "holds" if course.largest > 1e6 and abs(course.shown[-1]) < 1e-6 else "not",
            )


def measure(seeds: int, errors: Console) -> Ensemble:
    """Learn every experiment on so many seeds, under a bar."""
    with Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=errors,
        disable=not errors.is_interactive,
    ) as progress:
        bar = progress.add_task("claims", total=len(plan(seeds)))
        return learn(seeds, lambda: progress.advance(bar))


def report(console: Console, claims: Iterable[Claim], seeds: int) -> None:
    """Print the table."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1))
    for header in ("the paper says", "measured", "found", "verdict"):
        table.add_column(header, overflow="fold")
    for claim in claims:
        table.add_row(*claim)
    about = f"Section 3, claim by claim, on seeds 0 to {seeds - 1} and seven decades of η₀"
    console.print("", about, table, sep="\n", highlight=False)


def markdown(claims: Iterable[Claim]) -> str:
    """The table as docs/paper.md has it."""
    lines = ["| the paper says | measured | found | verdict |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in c)} |" for c in claims]
    return "\n".join(lines)
