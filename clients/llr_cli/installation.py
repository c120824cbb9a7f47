"""Checks of the installation: extras, and equal versions of its packages."""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import llr_client

from llr_cli.exits import REFUSED, fail


def need_figures() -> None:
    """Exit with the extra to install if matplotlib is missing."""
    if find_spec("matplotlib") is None:
        fail(REFUSED, "figures need matplotlib: pip install 'llr[figures]'")


def mixed() -> str | None:
    """A warning if the SDK's version differs from the command's; None if they are equal.

    The distributions `llr` and `llr-client` both contain the package `llr_client`: two versions in
    one environment overwrite each other's files.
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
