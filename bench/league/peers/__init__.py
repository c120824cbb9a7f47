"""Other people's online learners, each at its default or at a step size that is swept.

A module here is for one package and lists its `PEERS`. One whose package is not installed is left
out, and the report says so: `pip install -e .[peers]` and `.[peers-torch]` bring them.
"""

import functools
import importlib
from importlib.metadata import PackageNotFoundError, version

from bench.league.peers.peer import Peer

PACKAGES = {
    "river": ("by_river", ("river",)),
    "scikit-learn": ("by_scikit_learn", ("scikit-learn",)),
    "vowpalwabbit": ("by_vowpal_wabbit", ("vowpalwabbit",)),
    "swifttd": ("by_swifttd", ("swifttd",)),
    "torch": (
        "by_torch",
        ("torch", "schedulefree", "prodigyopt", "dadaptation", "dog-optimizer", "trac-optimizer"),
    ),
}
"""By the name for --peers: the module here, and the distributions it needs."""


def missing(package: str) -> list[str]:
    """What would have to be installed for the peers of this package."""
    return [name for name in PACKAGES[package][1] if _version(name) is None]


def versions(package: str) -> list[str]:
    """What is installed of it."""
    return [f"{name} {found}" for name in PACKAGES[package][1] if (found := _version(name))]


@functools.cache
def peers_of(package: str) -> dict[str, Peer]:
    """The peers of this package, by name."""
    module = importlib.import_module(f"bench.league.peers.{PACKAGES[package][0]}")
    return {peer.name: peer for peer in module.PEERS}


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
