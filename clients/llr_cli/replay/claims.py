"""What the paper's Section 3 says its figures show, measured on many seeds, a row a sentence.

A claim that is counted holds from 90 % of the cases on, partly from 30 %. "Much", "noticeably" and
the like need a margin; each rule below says which.
"""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from llr.types import Vector
from llr_cli.replay.experiments import DECADES, FIXED, LEARNT, MODELS, STEEP, power
from llr_cli.replay.runs import STABILITY, STEEPER, Course, Ensemble, learn, plan

CLOSE = 0.3
"""How near θ, or the paper's entry of θᵀM, has to end to count as near the maximum likelihood."""
MARGIN = 0.1
"""The share of the runs by which one number of runs has to be above another to be clearly more."""
NAMES = {"gaussian": "Gaussian", "bernoulli": "coin", "regression": "regression"}
WORDS = {"sg": "SG", "svrg": "SVRG", "sg/ag": "SG/AG", "svrg/ag": "SVRG/AG"}
SMALL, LARGE = DECADES[:3], DECADES[-3:]
BOUND = 1e-8
"""1/α of the quadratic."""

Case = tuple[int, bool]
"""The seed of something that was looked at, and whether it is as the paper says."""


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
        _often_poor_without,
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
        _soon_as_good_as_the_ml,
        _fluctuations_are_irrelevant,
        _log_eta_stagnates,
        _longer_on_the_regression,
        _poor_starts_are_rescued,
        _small_starts_are_better,
        _stable_below,
        _falls_fast_then_slowly,
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


def counted(cases: Iterable[Case]) -> str:
    """How many cases are so, and between which numbers that lies for one seed.

    >>> counted([(0, True), (0, True), (1, True), (1, False)])
    '3 of 4 (a seed 1 to 2 of 2)'
    """
    found = [*cases]
    whole = f"{sum(one for _, one in found)} of {len(found)}"
    seeds = sorted({seed for seed, _ in found})
    each = [[one for seed, one in found if seed == this] for this in seeds]
    if len(each) < 2 or len(each[0]) < 2:
        return whole
    least, most = (limit(map(sum, each)) for limit in (min, max))
    numbers = f"{least}" if least == most else f"{least} to {most}"
    return f"{whole} (a seed {numbers} of {max(map(len, each))})"


def clearly_more(these: int, those: int, of: int) -> str:
    """Whether one number of runs is above another by the margin, above it at all, or not.

    >>> clearly_more(30, 10, 100), clearly_more(12, 10, 100), clearly_more(10, 10, 100)
    ('holds', 'partly', 'not')
    """
    if these - those >= MARGIN * of:
        return "holds"
    return "partly" if these > those else "not"


def _share(cases: list[Case]) -> float:
    return sum(one for _, one in cases) / max(len(cases), 1)


def _counted(says: str, measured: str, cases: Iterable[Case], *more: str) -> Claim:
    found = [*cases]
    return Claim(says, measured, "; ".join((counted(found), *more)), verdict(_share(found)))


def _cases(courses: Iterable[Course], so: Callable[[Course], bool]) -> list[Case]:
    return [(course.experiment.seed, so(course)) for course in courses]


def _near(courses: Iterable[Course]) -> list[Case]:
    return _cases(courses, lambda course: course.gap < CLOSE)


def _sum(cases: Iterable[Case]) -> int:
    return sum(one for _, one in cases)


def quartile_range(ends: Iterable[float]) -> float:
    """The distance of the quartiles; infinite if either is.

    >>> quartile_range([1.0, 2.0, 3.0, 4.0, 5.0]), quartile_range([1.0, math.inf, math.inf])
    (2.0, inf)
    """
    low, high = np.percentile([*ends], [25, 75], method="nearest")
    return math.inf if math.isinf(low) or math.isinf(high) else float(high - low)


def _closer_to_each_other(every: Ensemble) -> Iterable[Claim]:
    """Much closer is less than half."""
    for stream in MODELS:
        widths: dict[str, list[float]] = {}
        for algorithm in (*FIXED, *LEARNT):
            courses = every.of(stream, algorithm)
            widths[algorithm] = [
                quartile_range(c.last for c in courses if c.experiment.seed == seed)
                for seed in range(every.seeds)
            ]
        cases = [
            (seed, widths[learnt][seed] < 0.5 * widths[fixed][seed])
            for fixed, learnt in zip(FIXED, LEARNT, strict=True)
            for seed in range(every.seeds)
        ]
        yield _counted(
            "trajectories are much closer to each other with LLR",
            f"{NAMES[stream]}: quartile range of the ends over η₀, below half of that without LLR",
            cases,
            ", ".join(f"{WORDS[a]} {np.median(widths[a]):.2g}" for a in (*FIXED, *LEARNT)),
        )


def _often_poor_without(every: Ensemble) -> Iterable[Claim]:
    """Many are three decades of the seven."""
    for algorithm in FIXED:
        runs = {s: every.of(s, algorithm) for s in MODELS}
        far = [c for s in MODELS for c in runs[s] if c.gap >= CLOSE]
        many = [
            (seed, sum((c.experiment.stream, c.experiment.seed) == (s, seed) for c in far) >= 3)
            for s in MODELS
            for seed in range(every.seeds)
        ]
        shares = ", ".join(
            f"{NAMES[s]} {sum(c.experiment.stream == s for c in far)} of {len(runs[s])}"
            for s in MODELS
        )
        yield _counted(
            "for many values of η the standard algorithms perform poorly",
            f"{WORDS[algorithm]}, a stream of a seed: 3 or more of 7 decades end {CLOSE} or more"
            " from the ML; runs that do",
            many,
            shares,
        )


def _low_steps_are_slow(every: Ensemble) -> Iterable[Claim]:
    cases = [case for s in MODELS for case in _cases(every.of(s, "sg", SMALL), _is_far)]
    measured = f"SG from 10⁻⁵ to 10⁻³, all streams: ends more than {CLOSE} from the ML"
    yield _counted("low values of η converge dramatically slowly", measured, cases)


def _is_far(course: Course) -> bool:
    return course.gap > CLOSE


def _svrg_is_better(every: Ensemble) -> Iterable[Claim]:
    near = {a: [case for s in MODELS for case in _near(every.of(s, a))] for a in FIXED}
    yield Claim(
        "SVRG performs noticeably better than SG",
        f"runs that end within {CLOSE} of the ML, all streams and η₀; more by a tenth of them",
        f"SVRG {counted(near['svrg'])}, SG {counted(near['sg'])}",
        clearly_more(_sum(near["svrg"]), _sum(near["sg"]), len(near["sg"])),
    )


def _svrg_may_oscillate(every: Ensemble) -> Iterable[Claim]:
    courses = every.of("bernoulli", "svrg", [10.0])
    yield _counted(
        "SVRG may start to oscillate",
        "coin, SVRG with η = 10: mean |θ(t+1) − θ(t)| over the second half above 0.1",
        _cases(courses, lambda c: c.wobble > 0.1),
        spread(c.wobble for c in courses),
    )
    yield _counted(
        "SVRG may start to oscillate",
        "regression, SVRG with η = 10⁻³: passes both −10 and 10",
        _cases(
            every.of("regression", "svrg", [1e-3]),
            lambda c: c.diverged or bool(c.low.min() < -10.0 and c.high.max() > 10.0),
        ),
    )


def _close_to_the_ml(every: Ensemble) -> Iterable[Claim]:
    for stream in MODELS:
        measured = f"{NAMES[stream]}, SG/AG from 10⁻⁵ to 10: ends within {CLOSE} of the ML"
        cases = _near(every.of(stream, "sg/ag"))
        yield _counted("almost every trajectory gets close to the ML", measured, cases)


def _oscillations_are_damped(every: Ensemble) -> Iterable[Claim]:
    """Overwhelmingly is below a tenth."""
    for stream, eta0 in (("bernoulli", 10.0), ("regression", 1e-3)):
        pairs = zip(
            every.of(stream, "svrg/ag", [eta0]), every.of(stream, "svrg", [eta0]), strict=True
        )
        ratios = {
            learnt.experiment.seed: 0.0
            if fixed.diverged and not learnt.diverged
            else learnt.wobble / fixed.wobble
            for learnt, fixed in pairs
        }
        yield _counted(
            "SVRG/AG damps the oscillations overwhelmingly",
            f"{NAMES[stream]}, η₀ = {power(eta0)}: SVRG/AG's moves below a tenth of SVRG's; ratio",
            [(seed, ratio < 0.1) for seed, ratio in ratios.items()],
            spread(ratios.values()),
        )


def _less_decisive_on_the_regression(every: Ensemble) -> Iterable[Claim]:
    near = {(s, a): _near(every.of(s, a)) for s in MODELS for a in ("sg", "sg/ag")}
    total = len(near["gaussian", "sg"])
    gains = {s: _sum(near[s, "sg/ag"]) - _sum(near[s, "sg"]) for s in MODELS}
    yield Claim(
        "improvements for SG are less decisive on the regression",
        f"runs within {CLOSE} of the ML that SG/AG has more than SG; fewer by a tenth of the runs",
        ", ".join(f"{NAMES[s]} {gain}" for s, gain in gains.items()) + f" of {total}",
        clearly_more(min(gains["gaussian"], gains["bernoulli"]), gains["regression"], total),
    )


def _fixed_regrets_rise(every: Ensemble) -> Iterable[Claim]:
    courses = [c for s in MODELS for a in FIXED for c in every.of(s, a)]
    measured = "SG and SVRG, all streams and η₀: regret grows over the second half"
    cases = _cases(courses, lambda c: c.rise > 0.0)
    yield _counted("the regrets of SG and SVRG all go upwards", measured, cases)


def _learnt_regrets_stagnate(every: Ensemble) -> Iterable[Claim]:
    for stream in ("gaussian", "bernoulli"):
        for algorithm in LEARNT:
            cases = _cases(
                every.of(stream, algorithm),
                lambda c: c.rise < 0.1 * max(c.at_half(c.regret), 1.0),
            )
            measured = (
                f"{NAMES[stream]}, {WORDS[algorithm]}: the second half adds less than a tenth"
            )
            yield _counted("LLR's regrets stagnate strikingly quickly", measured, cases)


def _regression_regrets_go_on(every: Ensemble) -> Iterable[Claim]:
    for algorithm in LEARNT:
        courses = every.of("regression", algorithm)
        cases = _cases(courses, lambda c: c.rise >= 0.1 * c.at_half(c.regret))
        measured = f"regression, {WORDS[algorithm]}: the second half adds a tenth or more"
        yield _counted("on the regression the regrets do not stagnate", measured, cases)


def _less_regret_on_the_regression(every: Ensemble) -> Iterable[Claim]:
    for fixed, learnt in zip(FIXED, LEARNT, strict=True):
        pairs = zip(every.of("regression", learnt), every.of("regression", fixed), strict=True)
        measured = f"regression, {WORDS[learnt]} and {WORDS[fixed]} from the same η₀: less regret"
        cases = [
            (one.experiment.seed, one.end < other.end or other.diverged > one.diverged)
            for one, other in pairs
        ]
        yield _counted("on the regression LLR is still significantly better", measured, cases)


def _soon_as_good_as_the_ml(every: Ensemble) -> Iterable[Claim]:
    """Very quickly is within a tenth of the samples."""
    for stream in ("gaussian", "bernoulli"):
        for algorithm in LEARNT:
            courses = every.of(stream, algorithm)
            cases = _cases(courses, lambda c: reached(c) <= 0.1 * c.experiment.samples)
            measured = (
                f"{NAMES[stream]}, {WORDS[algorithm]}: 90 % of the regret is there after a tenth of"
                " the samples; t at which it is"
            )
            yield _counted(
                "θ is very quickly as good as the ML for prediction",
                measured,
                cases,
                spread(map(reached, courses)),
            )


def reached(course: Course) -> float:
    """The t from which on the regret stays above 90 % of its end; infinite if that is."""
    if math.isinf(course.end):
        return math.inf
    below = course.regret < 0.9 * course.end if course.end > 0.0 else np.zeros(0, bool)
    places = np.flatnonzero(below)
    return float(course.t[places[-1] + 1]) if places.size else 0.0


def _fluctuations_are_irrelevant(every: Ensemble) -> Iterable[Claim]:
    """Irrelevant is below 1 % of the loss."""
    for stream in ("gaussian", "bernoulli"):
        near = [c for a in LEARNT for c in every.of(stream, a) if c.gap < CLOSE]
        late = {id(c): 2.0 * c.rise / c.experiment.samples for c in near}
        measured = (
            f"{NAMES[stream]}, LLR near the ML: a sample of the second half adds less regret than"
            " 1 % of the mean loss; that regret, and the moves of θ"
        )
        yield _counted(
            "the fluctuations around the ML are irrelevant",
            measured,
            _cases(near, lambda c, late=late: late[id(c)] < 0.01 * c.loss),  # type: ignore[misc]
            f"{spread(late.values())}, {spread(c.wobble for c in near)}" if near else "none",
        )


def _log_eta_stagnates(every: Ensemble) -> Iterable[Claim]:
    for stream in ("gaussian", "bernoulli"):
        courses = [c for a in LEARNT for c in every.of(stream, a)]
        cases = _cases(
            courses,
            lambda c: not c.diverged and abs(c.log_eta[-1] - c.at_half(c.log_eta)) < math.log(2.0),
        )
        measured = f"{NAMES[stream]}, both: η changes less than 2 times over the second half"
        yield _counted("log η stagnates quite quickly", measured, cases)


def _settled_at(course: Course) -> float:
    """The samples after which η stays within 2 times of where it ends."""
    off = np.abs(course.log_eta - course.log_eta[-1]) > math.log(2.0)
    last = int(np.flatnonzero(off)[-1]) + 1 if off.any() else 0
    return float(course.t[last])


def _longer_on_the_regression(every: Ensemble) -> Iterable[Claim]:
    """Longer is twice as long."""
    for algorithm in LEARNT:
        times = {
            s: [_settled_at(c) for c in every.of(s, algorithm, SMALL)]
            for s in ("gaussian", "regression")
        }
        pairs = zip(every.of("regression", algorithm, SMALL), *times.values(), strict=True)
        yield _counted(
            "on the regression the convergence of log η takes longer",
            f"{WORDS[algorithm]} from 10⁻⁵ to 10⁻³: samples until η stays within 2 times its end,"
            " twice those on the Gaussian or more",
            [(c.experiment.seed, longer >= 2.0 * short) for c, short, longer in pairs],
            f"{spread(times['regression'])}; Gaussian {spread(times['gaussian'])}",
        )


def _poor_starts_are_rescued(every: Ensemble) -> Iterable[Claim]:
    for stream in MODELS:
        cases: list[Case] = []
        for fixed, learnt in zip(FIXED, LEARNT, strict=True):
            best = every.best(stream, fixed)
            tuned = {c.experiment.seed: c for c in every.of(stream, fixed, [best])}
            poor = [x for x in DECADES if max(x / best, best / x) >= 9.99]
            for course in every.of(stream, learnt, poor):
                seed = course.experiment.seed
                cases.append((seed, abs(course.last - tuned[seed].last) < CLOSE))
        measured = f"{NAMES[stream]}, η₀ ten times off or more: ends within {CLOSE} of hand-tuned"
        yield _counted("poor η₀ and hand-tuned η are pretty much the same", measured, cases)


def _small_starts_are_better(every: Ensemble) -> Iterable[Claim]:
    for stream in MODELS:
        small, large = (
            [case for a in LEARNT for case in _near(every.of(stream, a, starts))]
            for starts in (SMALL, LARGE)
        )
        yield Claim(
            "much more efficient at small η₀ than at large",
            f"{NAMES[stream]}: near the ML from 10⁻⁵ to 10⁻³, and from 0.1 to 10; more by a tenth",
            f"{counted(small)} and {counted(large)}",
            clearly_more(_sum(small), _sum(large), len(small)),
        )


def _stable_below(every: Ensemble) -> Iterable[Claim]:
    first, last = power(STABILITY[0]), power(STABILITY[-1])
    for algorithm, ratio in (("sg", "η/2f"), ("svrg", "its own η/2")):
        cases = [
            (course.experiment.seed, bool(one))
            for course in every.of(STEEPER, algorithm, (*STABILITY, STEEP))
            for one in (np.diff(np.abs(course.shown)) < 0.0) == (_ratio(course)[:-1] < BOUND)
        ]
        yield _counted(
            "SG is stable if, and only if, η/2f is below 1/α",
            f"quadratic of 10⁸, {WORDS[algorithm]} with η from {first} to {last} and"
            f" {power(STEEP)}: samples at which |θ| falls just if {ratio} is below 1/α",
            cases,
        )


def _ratio(course: Course, damped: bool = False) -> Vector:
    """η/2f at every point; of SVRG, which has no f (R7), η/2 unless `damped`."""
    f = np.sqrt(course.t + 2.0) * np.log(course.t + 3.0)
    own = f if damped or course.experiment.algorithm.startswith("sg") else np.ones_like(f)
    return np.asarray(np.exp(course.log_eta) / (2.0 * own))


EARLY = 50


def _falls_fast_then_slowly(every: Ensemble) -> Iterable[Claim]:
    """Quickly is two decades more than the original in 50 samples; alike is within half a one."""
    for fixed, learnt in zip(FIXED, LEARNT, strict=True):
        for original, course in zip(
            every.of(STEEPER, fixed, [STEEP]), every.of(STEEPER, learnt, [STEEP]), strict=True
        ):
            middle = min(EARLY, int(course.t[-1]) // 2)
            decades = np.log10(_ratio(course, damped=True))
            f = np.sqrt(course.t + 2.0) * np.log(course.t + 3.0)
            slow = np.log10(_ratio(original, damped=True)[0] * f[0] / f)
            falls = [(d[0] - d[middle], d[middle] - d[-1]) for d in (decades, slow)]
            fast = falls[0][0] - falls[1][0] >= 2.0
            alike = abs(falls[0][1] - falls[1][1]) <= 0.5
            yield Claim(
                "LLR's ratio goes down quickly, then slowly; the original's slowly all the time",
                f"quadratic of 10⁸, {WORDS[learnt]} and {WORDS[fixed]}: decades that η/2f falls"
                f" over the first {middle} samples, and over the others",
                "; ".join(f"{early:.2f} and {late:.2f}" for early, late in falls),
                "holds" if fast and alike else "partly" if fast or alike else "not",
            )


def _the_quadratic(every: Ensemble) -> Iterable[Claim]:
    for algorithm in LEARNT:
        for course in every.of(STEEPER, algorithm, [STEEP]):
            ratio = _ratio(course)
            stable = ratio < BOUND
            first = int(course.t[np.argmax(stable)]) if stable.any() else None
            name, symbol = WORDS[algorithm], "η/2f" if algorithm == "sg/ag" else "its own η/2"
            yield Claim(
                "the ratio η/2f converges quickly towards 1/α",
                f"quadratic of 10⁸, {name} from {power(STEEP)}: first t with {symbol} below 1/α",
                f"t = {first}",
                "holds" if first is not None and first < EARLY else "not",
            )
            after = ratio[np.argmax(stable) :] / BOUND
            off = max(float(after.max()), 1.0 / float(after.min()))
            yield Claim(
                "the ratio η/2f converges quickly towards 1/α",
                f"quadratic of 10⁸, {name}: {symbol} times α after that, least and largest",
                f"{after.min():.2g} to {after.max():.2g}",
                "holds" if off < 2.0 else "partly" if off < 10.0 else "not",
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


def measure(seeds: int, errors: Console, figures: bool = False) -> Ensemble:
    """Learn what the claims need on so many seeds, and with `figures` the rest, under a bar."""
    wanted = plan(seeds, figures)
    with Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=errors,
        disable=not errors.is_interactive,
    ) as progress:
        bar = progress.add_task("runs" if figures else "claims", total=len(wanted))
        return learn(wanted, seeds, lambda: progress.advance(bar))


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
