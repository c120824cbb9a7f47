"""The rounds of the league: which jobs there are in each, and what comes back of them."""

from collections.abc import Iterable, Sequence

from bench.league import drifting, hostile, jobs, parts, peers, real, score
from bench.league.crowd import Crowd
from bench.league.jobs import FINE, Hostile, Ours
from bench.league.peers.peer import Peer
from bench.league.results import Results, Sweep

AUTO = "auto"
HURT = (
    "1 % of labels off by a normal of sd 100",
    "half of the features suddenly ×100",
    "pure noise",
)
"""The hostile streams that the ablations are shown on."""

Ablated = dict[tuple[str, int], dict[str, list[float]]]


def synthetic(crowd: Crowd, seeds: Sequence[int], title: str) -> Results:
    """The library on the fifteen streams."""
    results = Results(tuple(seeds))
    todo = [(name, seed) for name in drifting.NAMES for seed in seeds]
    found: list[Ours] = crowd.map(f"auto and SG, {title} seeds", jobs.on_stream, todo)
    for (name, seed), one in zip(todo, found, strict=True):
        results.least[name, seed] = one.least
        for learner, loss in one.losses.items():
            results.losses[learner, name, seed] = loss
    for name in drifting.NAMES:
        of_seeds = [one.sweeps for (at, _), one in zip(todo, found, strict=True) if at == name]
        for learner in of_seeds[0]:
            columns = zip(*(sweeps[learner] for sweeps in of_seeds), strict=True)
            means = dict(zip(FINE, map(score.average, columns), strict=True))
            results.sweeps[learner, name] = Sweep(tuple(seeds), means)
    return results


def defaults(crowd: Crowd, results: Results, packages: Iterable[str]) -> None:
    """The peers at their defaults on the streams that stay."""
    todo = [
        (package, peer.name, name, seed)
        for package, peer in _entered(packages)
        if peer.synthetic
        for name in drifting.STATIONARY
        for seed in results.seeds
    ]
    found = crowd.map("peers at their defaults", jobs.peer_on_stream, todo)
    for (_, peer, name, seed), loss in zip(todo, found, strict=True):
        results.losses[peer, name, seed] = loss


def sweeps(crowd: Crowd, results: Results, packages: Iterable[str], quick: bool) -> None:
    """The peers over their step sizes: the slow ones on one seed, or not at all if quick."""
    todo = [
        (package, peer.name, name, results.seeds if peer.fast else results.seeds[:1], 1)
        for package, peer in reversed(list(_entered(packages)))  # the slowest first
        if peer.swept and (peer.fast or not quick)
        for name in reversed(drifting.STATIONARY)
    ]
    found = crowd.map("peers over their step sizes", jobs.peer_swept, todo)
    for (_, peer, name, seeds, _), losses in reversed(list(zip(todo, found, strict=True))):
        results.sweeps[peer, name] = Sweep(tuple(seeds), losses)


def robustness(crowd: Crowd, seeds: Sequence[int]) -> dict[str, list[Hostile]]:
    """The library on the hostile streams, a result a seed."""
    names = list(hostile.streams(seeds[0]))
    todo = [(name, seed) for name in names for seed in seeds]
    found = crowd.map("hostile streams", jobs.on_hostile, todo)
    pairs = list(zip(todo, found, strict=True))
    return {name: [one for (at, _), one in pairs if at == name] for name in names}


def ablations(crowd: Crowd, seeds: Sequence[int]) -> Ablated:
    """Every ablation on the fifteen streams and some hostile ones."""
    todo = [(name, seed) for name in (*drifting.NAMES, *HURT) for seed in seeds]
    found = crowd.map(f"{len(parts.ABLATIONS)} ablations", jobs.ablated, todo)
    return dict(zip(todo, found, strict=True))


def reality(crowd: Crowd, packages: Iterable[str]) -> dict[str, dict[str, float]]:
    """Mean losses on real data, by learner and set."""
    entered = [(package, peer.name) for package, peer in _entered(packages) if peer.real]
    todo = [(package, peer, name) for package, peer in entered for name in real.STREAMS]
    by_peers = crowd.map("peers on real data", jobs.peer_on_real, todo)
    by_auto = crowd.map("auto on real data", jobs.auto_on_real, [(name,) for name in real.STREAMS])
    losses = {AUTO: dict(zip(real.STREAMS, by_auto, strict=True))}
    for (_, peer, name), loss in zip(todo, by_peers, strict=True):
        losses.setdefault(peer, {})[name] = loss
    return losses


def _entered(packages: Iterable[str]) -> list[tuple[str, Peer]]:
    return [(package, peer) for package in packages for peer in peers.peers_of(package).values()]
