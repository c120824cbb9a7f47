"""Write the files that the code determines: `make docs` runs `python -m scripts.reference`."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from llr_service.app import App
from llr_service.metrics import Metrics
from llr_service.problems import KINDS, TYPE_PREFIX
from llr_service.settings import Settings

from scripts import reference_api, reference_cli, reference_sdk, typescript

ROOT = Path(__file__).parents[1]
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


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = App(Settings(store="memory:")).inner.openapi()
    return document


FILES: dict[str, Callable[[], str]] = {
    "docs/errors.md": errors,
    "docs/metrics.md": metrics,
    "docs/routes.md": lambda: reference_api.routes(_document()),
    "docs/commands.md": reference_cli.commands,
    "docs/sdk-reference.md": reference_sdk.sdk,
    "clients/typescript/schemas.d.ts": lambda: typescript.schemas(_document()),
}

if __name__ == "__main__":
    for name, text in FILES.items():
        (ROOT / name).write_text(text())
    sys.stdout.write(f"{', '.join(FILES)}\n")
