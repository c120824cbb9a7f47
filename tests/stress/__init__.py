"""Harnesses that try to make the service break its promise, each with a seed and a count.

`make torture` runs the long forms and prints a table, `test_rows.py` the short ones. The
rows are those of `docs/reliability.md`; `rows.py` lists them.
"""

import warnings

warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient`")
