"""`python -m llr_service.migrate`, which is `llr migrate`: a store's tables become this version's.

What is stored stays as it is. Any number of processes may do it at once.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing

from llr_service.settings import Settings
from llr_service.stores import open_store
from llr_service.stores.postgres.url import display_url, with_option
from llr_service.stores.store import StoreError


def main(arguments: Sequence[str] | None = None) -> int:
    """Migrate; returns the exit code."""
    parser = argparse.ArgumentParser(prog="llr migrate", description=__doc__)
    parser.add_argument("store", nargs="?", help="its URL; that of LLR_STORE if left out")
    given = parser.parse_args(arguments)
    try:
        url = given.store or Settings.from_cli([], prog="llr migrate").store
        with closing(open_store(with_option(url, "migrate"))) as store:
            sys.stdout.write(f"{display_url(url)}: ready, {store.count()} sessions\n")
    except StoreError as failure:
        sys.stderr.write(f"llr migrate: {failure}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
