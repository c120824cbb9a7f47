"""REGRET.md: every table of the league, written by the run that measured it."""

import datetime
import math
import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from bench.league import drifting, findings, parts, peers, quality, real, score
from bench.league.findings import Findings
from bench.league.ours import CONSTANT, FIXED, PAPERS
from bench.league.rounds import AUTO, HURT
from bench.league.score import Results, Tuned
from bench.markdown import bold, number, power, table, yes


def write(found: Findings, folder: Path, packages: Iterable[str], took: float) -> Path:
    """Write the report; returns its path."""
    sections = [
        _head(found, list(packages), took),
        _targets(found),
        "![regret against step size](regret.svg)",
        _defaults(found),
        _swept(found),
        _fifteen(found.confirming, "seeds that nothing was chosen on"),
        _fifteen(found.choosing, "seeds that constants were chosen on") if found.choosing else "",
        _ablations(found),
        _hostile(found),
        _real(found),
        _quality(found),
        _more(found),
    ]
    path = folder / "REGRET.md"
    path.write_text("\n\n".join(section for section in sections if section) + "\n")
    return path


def _head(found: Findings, packages: list[str], took: float) -> str:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    own = [f"{name} {version(name)}" for name in ("llr", "numba", "numpy")]
    ran = [line for package in packages for line in peers.versions(package)]
    left = [package for package in peers.PACKAGES if package not in packages]
    seeds = ", ".join(map(str, found.confirming.seeds))
    return f"""# Regret of `auto` and its peers

Written by `make regret` on {today} after {took / 60.0:.0f} minutes ({machine}).
Python {platform.python_version()}, {", ".join(own + ran)}.
{"Not run on made streams: " + ", ".join(left) + "." if left else "Every peer was run."}

One pass, batch 1, each sample predicted before it is learnt from. Loss is ½(y − s)² or the
logarithmic one. Regret is counted from the running maximum likelihood where the truth stays, from
the truth itself where it moves. "Tuned" is the best of a grid of quarter decades from 10⁻¹⁰ to 10¹⁰
in hindsight, on the scored seeds: it cannot be known in advance. A ratio of regrets is
(regret + 2)/(target + 2), and means of ratios are geometric. A regret below 0 counts as 0; the
first table also has the form in which it counts as it is, down to −1.
Constants of `auto` were chosen on the seeds 0, 1, 2. Figures below are means over the seeds {seeds}
unless they say otherwise."""


def _targets(found: Findings) -> str:
    rows = [
        (line.what, line.wanted, line.choosing, line.reached, yes(line.yes))
        for line in findings.targets(found)
    ]
    headings = ("figure", "to reach", "choosing seeds", "confirming seeds", "reached")
    return "## What was to be reached\n\n" + table(headings, rows)


def _defaults(found: Findings) -> str:
    results = found.confirming
    columns = {
        name: {who: results.regret(who, name) for who in results.learners()}
        for name in drifting.STATIONARY
    }
    rows = [
        (who, *(bold(number(of[who]), of[who] == _least(of.values())) for of in columns.values()))
        for who in results.learners()
    ]
    tuned = [
        (f"*tuned {who}*", *(number(results.tuned(who, name).value) for name in columns))
        for who in (FIXED, CONSTANT)
    ]
    return f"""## Everybody at the default

Regret on the five streams whose truth stays; `sg/ag` and `svrg/ag` are the paper's, from η₀ = 10⁻³.
{_not_for_batch_1()}

{table(("learner", *columns), rows + tuned)}"""


def _not_for_batch_1() -> str:
    made = [
        peer.name
        for package in peers.PACKAGES
        if not peers.missing(package)
        for peer in peers.peers_of(package).values()
        if not peer.batch_1
    ]
    if not made:
        return ""
    return f"{', '.join(made)} were made for mini-batches and many passes, not for batch 1."


def _swept(found: Findings) -> str:
    results = found.confirming
    names = drifting.STATIONARY
    rows = []
    for who in results.swept():
        best = [results.tuned(who, name) for name in names]
        shown = map(_tuned, best)
        rows.append((who, str(len(results.sweeps[who, names[0]].seeds)), *shown))
    flat = (f"**{AUTO}**", str(len(results.seeds)))
    rows.append((*flat, *(bold(number(results.regret(AUTO, name)), True) for name in names)))
    return f"""## Everybody tuned in hindsight

The least regret over its own step size from 10⁻¹⁰ to 10¹⁰, and the step size that had it; peers go
by decades, then by quarter decades around their best. river's Bayesian regression is swept over its
prior `alpha`, VW's OjaNewton, which takes no learning rate, over its `alpha`. `auto` has nothing
to tune.

{table(("learner", "seeds", *names), rows)}"""


def _tuned(one: Tuned) -> str:
    return number(one.value) + ("" if math.isnan(one.value) else f" ({power(one.rate)})")


def _least(values: Iterable[float]) -> float:
    return min(value for value in values if not math.isnan(value))


def _fifteen(results: Results, which: str) -> str:
    rows = []
    for name in drifting.NAMES:
        fixed, constant = results.tuned(FIXED, name), results.tuned(CONSTANT, name)
        ours = results.regret(AUTO, name)
        papers = (number(results.regret(paper, name)) for paper in PAPERS)
        tuned = (number(fixed.value), number(constant.value))
        ratios = (score.ratio(ours, fixed.value), score.ratio(ours, results.better(name)))
        shown = (f"{ratio:.2f}" for ratio in ratios)
        rows.append((name, number(ours), *tuned, *shown, *papers))
    seeds = ", ".join(map(str, results.seeds))
    headings = ("stream", AUTO, f"tuned {FIXED}", f"tuned {CONSTANT}", "by the first")
    heading = f"## Fifteen streams, {which} ({seeds})"
    return f"{heading}\n\n{table((*headings, 'by the better', *PAPERS), rows)}"


def _ablations(found: Findings) -> str:
    rows = []
    for what in parts.ABLATIONS:
        of = findings.of_ablation(found, what)
        ratios = [f"{ratio:.3f}" if ratio < 1e6 else "diverges" for ratio in of[:4]]
        rows.append((what, *ratios, *(_against_nothing(found, what, name) for name in HURT)))
    headings = ("off", "by tuned SG 1/f(t)", "without scales", "by the better", "worst loss")
    return f"""## What each part is worth

The same ratios for the first order alone (`second_order` off), with a part of it taken away, then
the loss against predicting 0.

{table((*headings, "1 % wild", "×100", "noise"), rows)}"""


def _against_nothing(found: Findings, what: str, name: str) -> str:
    seeds = found.confirming.seeds
    worst = [max(found.ablated[name, seed][what]) for seed in seeds]
    none = [one.nothing for one in found.hostile[name]]
    return number(score.average(a / b for a, b in zip(worst, none, strict=True)))


def _hostile(found: Findings) -> str:
    rows = []
    for name, each in found.hostile.items():
        tuned = score.average(one.auto / one.tuned for one in each)
        losses = [score.average(one[k] for one in each) for k in range(4)]
        by_first = findings.against_first_order(each)
        ratios = (f"{findings.against_nothing(each):.3f}", f"{tuned:.3f}", f"{by_first:.3f}")
        rows.append((name, *map(number, losses), *ratios))
    theta = [(who, number(size)) for who, size in found.theta.items()]
    names = ("stream", "predicting 0", "tuned SG", AUTO, "first order")
    headings = (*names, "by 0", "by tuned SG", "by first order")
    return f"""## Streams that hurt

Total loss on 5,000 samples of 20 features; tuned SG is the better of both kinds, the first order is
`auto` with `second_order` off.

{table(headings, rows)}

The largest size of θ on the quadratic of 10⁸, from θ = 1 down to 0:

{table(("learner", "largest"), theta)}"""


def _real(found: Findings) -> str:
    rows = []
    by = findings.on_real(found)
    for name, model in real.STREAMS.items():
        n, dim = real.stream(name).X.shape
        losses = [of[name] for of in found.real.values()]
        shown = [bold(number(loss), loss == _least(losses)) for loss in losses]
        ratio = f"{by[name]:.3f}" if by else ""
        rows.append((f"{name} ({n:,}, {dim}), {model}", *shown, ratio))
    return f"""## Real data

Mean loss over one pass in the order given, nothing set; "scaled" is behind a StandardScaler that
learns as it goes. The last column is `auto` by the better of river scaled and VW. Most of these
sets, and hostile streams of other seeds, were in sight while the form of `auto` was chosen: unlike
the fifteen streams, this is no confirmation on data that nothing was chosen on.

{table(("set (n, d), model", *found.real, "by the better"), rows)}"""


def _quality(found: Findings) -> str:
    tables = []
    for place, track in enumerate(quality.TRACKS):
        for name in track.sets:
            rows = []
            for model in quality.models_of(place, name):
                measured = found.quality.get((place, name, model))
                published = track.published[name].get(model)
                shown = [_metrics(measured), _metrics(published)]
                rows.append((bold(model, model == AUTO), *shown))
            heads = ", ".join(track.metrics)
            tables.append(table((f"{name}: {heads}", "here", "published"), rows))
    return f"""## river's table of quality

Each sample is predicted, then learnt, in river's metrics. river's models are set as its own
benchmark sets them; the published figures are those of its documentation for river 0.19. Its
forests were not run. Elec2 is not in the package, it would be downloaded, and is left out. `auto`
gets the numbers as they are, with nothing set.

{(chr(10) * 2).join(tables)}"""


def _metrics(values: Sequence[float] | None) -> str:
    return " / ".join(number(value) for value in values) if values else ""


def _more(found: Findings) -> str:
    beyond = [(f"{samples:,}", number(nats)) for samples, nats in found.beyond.items()]
    cost = [(what, f"{ns:,.0f}") for what, ns in found.cost.items()]
    return f"""## A long stationary stream, and cost

What `auto` loses beyond its own filter that forgets nothing, on 20 features
(`python -m bench million`):

{table(("samples", "nats"), beyond)}

The best of many turns of 7,500 samples in one block:

{table(("learner", "ns a sample"), cost)}"""
