"""docs/sdk.md: what it shows runs, and what it names exists."""

import re
from pathlib import Path

import llr_client
from llr_client import Client, errors
from support.root import ROOT
from support.serving import serving

DOCS = (ROOT / "docs" / "sdk.md").read_text()


def test_the_code_in_the_docs_runs_against_a_fresh_service(tmp_path: Path) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL))
    with serving(f"sqlite:///{tmp_path / 'llr.db'}") as address:
        exec(compile(code.replace("127.0.0.1:8080", address), "docs/sdk.md", "exec"), {})  # noqa: S102
        with Client(address) as client:
            learnt = {"demo": 40_015, "mail": 10_001, "coin": 4}
            learnt |= dict.fromkeys(["kept", "what-if", "contest"], 10_000)
            assert {row.name: row.t for row in client.sessions()} == learnt


def test_every_error_the_docs_name_exists() -> None:
    named = re.findall(r"errors\.([A-Z]\w+)", DOCS)
    assert named
    assert all(hasattr(errors, name) for name in named)
    assert {"Client", "AsyncClient"} <= set(llr_client.__all__)
