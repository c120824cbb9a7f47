"""How much `auto` regrets beside tuned SG and beside peers, on made and on real data.

    python -m bench regret                  everything: a quarter of an hour
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
from bench import markdown
from bench.league import drifting, findings, ours, peers, picture, report, rounds
from bench.league.findings import Findings
from bench.league.rounds import Crowd
from bench.race import Contestant, turn

HERE = Path(__file__).parent
CHOOSING, CONFIRMING, QUICK = (0, 1, 2), (31, 32, 33), (31,)
ROUNDS = 40


def main(given: Sequence[str]) -> None:
    options = arguments(given)
    packages = installed(options.peers)
    options.out.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    found = measure(packages, options.quick)
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


def measure(packages: list[str], quick: bool) -> Findings:
    seeds = QUICK if quick else CONFIRMING
    cost = costs()
    with Crowd() as crowd:
        choosing = None if quick else rounds.synthetic(crowd, CHOOSING, "choosing")
        confirming = rounds.synthetic(crowd, seeds, "confirming")
        rounds.defaults(crowd, confirming, packages)
        rounds.sweeps(crowd, confirming, packages, quick)
        hostile = rounds.robustness(crowd, seeds)
        ablated = rounds.ablations(crowd, seeds)
        real = rounds.reality(crowd, packages)
    return Findings(choosing, confirming, hostile, ablated, real, largest_thetas(), cost)


def largest_thetas() -> dict[str, float]:
    """On the quadratic of 10⁸."""
    found = {who: ours.largest_theta(who) for who in ("auto", *ours.PAPERS)}
    bare = {"intercept": False, "centring": False}
    return found | {"auto without intercept": ours.largest_theta("auto", **bare)}


def costs() -> dict[str, float]:
    """ns a sample at d = 50, the best of many turns that both take one after the other."""
    X, y = drifting.stream("linear", 0).X, drifting.stream("linear", 0).y
    y = y + 0.1 * np.random.default_rng(1).normal(size=y.size)

    def contestant(algorithm: str) -> Contestant:
        learner = llr.Learner("linear", X.shape[1], algorithm)
        return Contestant(algorithm, y.size, lambda: lambda: learner.learn(X, y))

    best: dict[str, float] = {}
    contestants = [contestant(algorithm) for algorithm in ("sg/ag", "auto")]
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
