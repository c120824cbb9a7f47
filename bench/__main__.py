"""The entry point of every measurement.

python -m bench                      all of RESULTS.md, about half an hour
python -m bench --quick              shorter turns, fewer of them; printed, not written
python -m bench http growth          these questions of it, printed and not written
python -m bench --resume             what a run that was cut short had not measured yet
python -m bench decode               one of bank, decode, drift, flink, forgetting, intervals,
python -m bench regret --help        leading, million, regret by itself, with its own options
"""

import importlib
import sys

ALONE = (
    "bank",
    "decode",
    "drift",
    "flink",
    "forgetting",
    "intervals",
    "leading",
    "million",
    "regret",
)


def main() -> None:
    """Run what is asked for. Only its modules are imported: peers and plots may be missing."""
    given = sys.argv[1:]
    if given and given[0] in ALONE:
        importlib.import_module(f"bench.{given[0]}").main(given[1:])
    else:
        importlib.import_module("bench.side_by_side").main(given)


if __name__ == "__main__":
    main()
