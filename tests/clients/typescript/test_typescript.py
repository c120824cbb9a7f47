"""The JavaScript client, run by Node against a service."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from support.root import ROOT
from support.serving import serving

from scripts.system_programs import need

CLIENT = ROOT / "clients/typescript"
BEHAVIOUR = Path(__file__).with_name("behaviour.mjs").read_text()


def output(folder: Path, program: str, *words: str) -> str:
    """What a program prints; it imports the client as an installed package."""
    (folder / "node_modules").mkdir()
    (folder / "node_modules/llr-client").symlink_to(CLIENT)
    (folder / "program.mjs").write_text(program)
    done = subprocess.run(  # noqa: S603
        [need("node"), "program.mjs", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_call_does_what_it_says_and_a_lost_answer_is_learnt_once(tmp_path: Path) -> None:
    with serving("memory:") as address:
        said = json.loads(output(tmp_path, BEHAVIOUR, f"http://{address}"))
    assert said == {
        "created": 0,
        "first": 1,
        "several": [3, 4],
        "predicted": "number",
        "rows": 2,
        "lost": 2,
        "labelled": [5, 6, 1],
        "past": [[1], 6],
        "twin": ["twin", "sg/ag", 0],
        "patient": 6,
        "limited": 429,
        "again": [7, True],
        "failed": "TypeError",
        "behind": [9, False],
        "refused": [True, 422, "invalid"],
        "event": ["9", 9],
        "listed": ["demo"],
        "gone": [404, "session-not-found"],
    }


def test_the_page_shows_a_program_that_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs/clients.md").read_text()
    (program,) = re.findall(r"```js\n(.*?)```", page, re.DOTALL)
    with serving("memory:") as address:
        said = output(tmp_path, program.replace("127.0.0.1:8080", address))
    assert said == "2 number\n"


@pytest.mark.parametrize("name", ["Client", "Session", "Problem"])
def test_the_types_declare_every_public_member(name: str) -> None:
    pattern = rf"class {name}\b.*?\n}}"
    (code,) = re.findall(pattern, (CLIENT / "llr.js").read_text(), re.DOTALL)
    (types,) = re.findall(pattern, (CLIENT / "llr.d.ts").read_text(), re.DOTALL)
    methods = re.findall(r"^    (?:async )?\*?(\w+)\(", code, re.MULTILINE)
    assert methods
    for method in methods:
        assert re.search(rf"\b{method}[(<]|private {method};", types), method


def test_every_type_of_the_client_is_declared() -> None:
    types = (CLIENT / "llr.d.ts").read_text()
    (imported,) = re.findall(r"import type \{(.*?)\}", types, re.DOTALL)
    declared = re.findall(
        r"^export (?:interface|type) (\w+)", (CLIENT / "schemas.d.ts").read_text(), re.MULTILINE
    )
    assert {name.strip() for name in imported.split(",") if name.strip()} <= set(declared)
    package = json.loads((CLIENT / "package.json").read_text())
    assert set(package["files"]) == {path.name for path in CLIENT.glob("llr.*")} | {"schemas.d.ts"}
