"""How LLR is installed: which extras are here, and whether its packages are of one version."""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import llr_client

from llr_cli.connection import BadData


def need_figures() -> None:
    """Raise BadData, which names the extra to install, where matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise BadData("figures need matplotlib: pip install 'llr[figures]'")


def mixed() -> str | None:
    """A sentence about an SDK of another version than this command, or None.

    The distributions `llr` and `llr-client` both contain the package `llr_client`: of two versions
    in one environment, each overwrites files of the other.
    """
    own, client = version("llr"), llr_client.__version__
    try:
        beside = version("llr-client")
    except PackageNotFoundError:
        beside = None
    if client == own and beside in (None, own):
        return None
    other = f"llr-client {beside}" if beside else f"an llr_client {client}"
    return (
        f"llr {own} contains the SDK, and {other} is installed over it: "
        "pip uninstall llr-client, then install llr again"
    )
