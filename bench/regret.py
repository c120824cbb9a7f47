"""How much `auto` regrets beside tuned SG and beside peers, on made and on real data.

    python -m bench regret                  everything: a quarter of an hour
    python -m bench regret --sweeps none    peers at their defaults; or "fast": only fast ones swept
    python -m bench regret --quick          one seed, few sweeps: two minutes
    python -m bench regret --peers river    only these peers, or "none"

Writes REGRET.md and regret.png and .svg into bench/, after --quick into out/; --out says otherwise.
`pip install -e .[peers]` brings most peers, `.[peers-torch]` those on torch; who is not
installed is left out, and the report says so.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.update({f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")})

import numpy as np
from rich.console import Console
from rich.markdown import Markdown

import llr
from bench import markdown, million
from bench.league import drifting, findings, ours, peers, picture, report, rounds
from bench.league.findings import Findings
from bench.league.rounds import Crowd
from bench.race import Contestant, turn

HERE = Path(__file__).parent
CHOOSING, CONFIRMING, QUICK = (0, 1, 2), (31, 32, 33), (31,)
ROUNDS = 40
LONG = {False: million.SAMPLES, True: 20_000}
"""Samples of the stationary stream, by whether the run is quick."""


def main(given: Sequence[str]) -> None:
    options = arguments(given)
    packages = installed(options.peers)
    options.out.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    found = measure(packages, options.quick, options.sweeps)
    took = time.monotonic() - begin
    path = report.write(found, options.out, packages, took)
    drawn = picture.draw(found.confirming, options.out)
    console = Console()
    console.print(Markdown(targets_as_table(found)))
    console.print(f"{took:.0f} s; written: {path}, " + ", ".join(map(str, drawn)))


def arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench regret", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("--quick", action="store_true", help="one seed, few sweeps")
    kinds = ("all", "fast", "none")
    parser.add_argument("--sweeps", choices=kinds, default="all", help="which peers are swept")
    names = ",".join(peers.PACKAGES)
    parser.add_argument("--peers", default=names, help=f"of {names}, or none; default: all")
    parser.add_argument("--out", type=Path, help="folder to write to")
    options = parser.parse_args(given)
    options.out = options.out or (HERE.parent / "out" if options.quick else HERE)
    return options


def installed(wanted: str) -> list[str]:
    """The packages asked for; says on stderr which of them are not there."""
    packages = []
    for package in [] if wanted == "none" else wanted.split(","):
        if package not in peers.PACKAGES:
            raise SystemExit(f"{package}: the peers are {', '.join(peers.PACKAGES)}")
        if missing := peers.missing(package):
            print(f"without {package}: {', '.join(missing)} not installed", file=sys.stderr)
        else:
            packages.append(package)
    return packages


def measure(packages: list[str], quick: bool, sweeps: str) -> Findings:
    seeds = QUICK if quick else CONFIRMING
    cost = costs()
    with Crowd() as crowd:
        choosing = None if quick else rounds.synthetic(crowd, CHOOSING, "choosing")
        confirming = rounds.synthetic(crowd, seeds, "confirming")
        rounds.defaults(crowd, confirming, packages)
        if sweeps != "none":
            rounds.sweeps(crowd, confirming, packages, quick or sweeps == "fast")
        hostile = rounds.robustness(crowd, seeds)
        ablated = rounds.ablations(crowd, seeds)
        real = rounds.reality(crowd, dict.fromkeys(["river", *packages]))
        quality = rounds.qualities(crowd)
        (beyond,) = crowd.map("a long stationary stream", million.beyond, [(LONG[quick],)])
    theta = largest_thetas()
    return Findings(choosing, confirming, hostile, ablated, real, theta, cost, beyond, quality)


def largest_thetas() -> dict[str, float]:
    """On the quadratic of 10⁸."""
    found = {who: ours.largest_theta(who) for who in ("auto", *ours.PAPERS)}
    bare = {"intercept": False, "centring": False}
    return found | {"auto without intercept": ours.largest_theta("auto", **bare)}


def costs() -> dict[str, float]:
    """ns a sample, the best of many turns that all take one after the other."""

    def contestant(algorithm: str, dim: int, regret: str) -> Contestant:
        stream = drifting.stream("linear", 0)
        X = np.ascontiguousarray(stream.X[:, :dim])
        y = stream.y + 0.1 * np.random.default_rng(1).normal(size=stream.y.size)
        learner = llr.Learner("linear", dim, algorithm, regret=regret)
        what = f"{algorithm}, d = {dim}" + (", exact regret" if regret == "exact" else "")
        return Contestant(what, y.size, lambda: lambda: learner.learn(X, y))

    best: dict[str, float] = {}
    contestants = [
        contestant(algorithm, dim, regret)
        for algorithm in ("sg/ag", "auto")
        for dim in (10, 50)
        for regret in ("off", "exact")
    ]
    for _ in range(ROUNDS):
        for one in contestants:
            best[one.name] = min(best.get(one.name, np.inf), turn(one))
    return best


def targets_as_table(found: Findings) -> str:
    rows = [
        (one.what, one.wanted, one.reached, markdown.yes(one.yes))
        for one in findings.targets(found)
    ]
    return markdown.table(("figure", "to reach", "is", "reached"), rows)
