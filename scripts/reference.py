"""Write the pages of docs/ that the code determines: `make docs` runs this."""

import sys
from pathlib import Path

from llr_service.metrics import Metrics
from llr_service.problems import KINDS, TYPE_PREFIX

DOCS = Path(__file__).parents[1] / "docs"
ERRORS = f"""# Errors

Every error is an `application/problem+json` document (RFC 9457). `type` is `{TYPE_PREFIX}` and
the name below; it stays the same between releases. `detail` says what to do. `errors` names the
places, by a JSON pointer or a line number. You may send a request again that got 408, 429 or 503;
`Retry-After` says after how many seconds. `make docs` writes this page from
`service/llr_service/problems.py`.

| name | status | title |
|---|---|---|
"""
METRICS = """# Metrics

`GET /metrics` returns these in Prometheus' text format. `deploy/alerts.yml` has alerts on them.
The metrics `process_*` are those of every Prometheus client. `make docs` writes this page from
`service/llr_service/metrics.py`.

| metric | type | meaning |
|---|---|---|
"""


def errors() -> str:
    """The page of errors."""
    return ERRORS + "".join(
        f"| `{kind.name}` | {kind.status} | {kind.title} |\n" for kind in KINDS.values()
    )


def metrics() -> str:
    """The page of metrics."""
    families = sorted(Metrics().registry.collect(), key=lambda family: family.name)
    return METRICS + "".join(
        f"| `{family.name}{'_total' if family.type == 'counter' else ''}` | {family.type} "
        f"| {family.documentation} |\n"
        for family in families
        if not family.name.startswith("process_")
    )


PAGES = {"errors.md": errors, "metrics.md": metrics}

if __name__ == "__main__":
    for name, text in PAGES.items():
        (DOCS / name).write_text(text())
    sys.stdout.write(f"docs/: {', '.join(PAGES)}\n")
