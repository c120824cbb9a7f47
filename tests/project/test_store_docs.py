"""docs/store.md and docs/uncertainty.md: the commands that they show work."""

import re
import subprocess
import sys
from pathlib import Path

from llr_client import Client
from support.root import ROOT
from support.serving import serving

LLR = f'llr() {{ "{sys.executable}" -c "from llr_cli.cli import main; main()" "$@"; }}\n'
STORE = re.findall(r"```sh\n(.*?)```", (ROOT / "docs/store.md").read_text(), re.DOTALL)


def shell(commands: str, folder: Path, **names: str) -> str:
    """What commands say; they must end with 0."""
    exports = "".join(f"export {name}={value}\n" for name, value in names.items())
    done = subprocess.run(  # noqa: S603
        ["bash", "-euo", "pipefail", "-c", exports + LLR + commands],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_store_is_backed_up_restored_and_moved_as_the_page_shows(tmp_path: Path) -> None:
    backup, restore, move = STORE
    first, moved = f"sqlite:///{tmp_path}/llr.db", f"sqlite:///{tmp_path}/moved.db"
    with serving(first) as address, Client(address) as client:
        client.session("demo", "gaussian").learn_many([1.0, 2.0])
        shell(backup, tmp_path, LLR_URL=address)
        client.session("demo").learn(3.0)
    in_place = restore.replace("sqlite:////var/lib/llr/llr.db", first)
    assert in_place != restore
    shell(in_place, tmp_path)
    shown = move.replace("sqlite:////var/lib/llr/llr.db", first)
    elsewhere = shown.replace("postgresql://llr@db/llr", moved)
    assert len({move, shown, elsewhere}) == 3
    shell(elsewhere, tmp_path)
    with serving(moved) as address, Client(address) as client:
        assert client.session("demo").state().t == 2


def test_an_interval_is_asked_for_as_the_page_shows(tmp_path: Path) -> None:
    page = (ROOT / "docs/uncertainty.md").read_text()
    (command,) = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
    (in_shell,) = re.findall(r"`(llr predict [^`]*)`", page)
    with serving("memory:") as address, Client(address) as client:
        client.session("demo", "linear").learn_many([[1, 2], [2, 1], [1, 1], [0, 1]], [1, 2, 3, 4])
        said = shell(command.replace("localhost:8080", address), tmp_path)
        assert re.search(r'"lower": ?[-\d.]+', said)
        assert re.search(r'"upper": ?[-\d.]+', said)
        assert re.fullmatch(r"\S+ \[\S+, \S+\]\n", shell(in_shell, tmp_path, LLR_URL=address))
