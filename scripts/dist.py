"""Build both wheels from the last commit into dist/, and try each in an environment of its own.

The distribution `llr` has the library, the service, the command and the SDK; `llr-client` has the
SDK alone. Both must have the same version and the same files of `llr_client`.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = {"llr", "llr_service", "llr_client", "llr_cli", "llr_connect"}
SDK = "llr_client/"
SDK_ALONE = """
import sys
import llr_client
assert "numpy" not in sys.modules
with llr_client.Client("http://127.0.0.1:1") as client:
    client.session("demo")
print("llr_client", llr_client.__version__)
"""
HAS_NUMPY = "import importlib.util; print(importlib.util.find_spec('numpy') is not None)"
PATIENCE = 180.0
"""Seconds until the service answers; the first start compiles the kernels."""


class Wrong(Exception):
    """A wheel is not what it should be."""


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel, without those that describe it."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name
        }


def check(own: Path, client: Path) -> None:
    """Compare the wheels with each other and with what they should contain."""
    ours, theirs = contents(own), contents(client)
    tops = {name.partition("/")[0] for name in ours}
    if tops != PACKAGES:
        raise Wrong(f"{own.name} has the packages {sorted(tops)}")
    for package in PACKAGES:
        if f"{package}/py.typed" not in ours:
            raise Wrong(f"{own.name} has no {package}/py.typed")
    if {name: data for name, data in ours.items() if name.startswith(SDK)} != theirs:
        raise Wrong(f"{own.name} and {client.name} have other files of {SDK}")
    if not client.name.endswith("-py3-none-any.whl"):
        raise Wrong(f"{client.name} is not for every platform")
    if own.name.split("-")[1] != client.name.split("-")[1]:
        raise Wrong(f"{own.name} and {client.name} have other versions")


def run(*command: str | Path, cwd: Path, code: int = 0) -> str:
    """What a command says; raises Wrong if it ends with another exit code."""
    done = subprocess.run(  # noqa: S603
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode != code:
        words = " ".join(str(word) for word in command)
        raise Wrong(f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def build(folder: Path) -> tuple[Path, Path]:
    """Build both wheels from an export of the last commit."""
    export, wheels = folder / "export", folder / "wheels"
    export.mkdir()
    archive = folder / "export.tar"
    run("git", "archive", "--output", archive, "HEAD", cwd=ROOT)
    shutil.unpack_archive(archive, export, filter="data")
    run(sys.executable, export / "scripts/docs.py", cwd=folder)
    for source in (export, export / "clients"):
        pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", wheels)
        run(*pip, source, cwd=folder)
    (own,) = wheels.glob("llr-*.whl")
    (client,) = wheels.glob("llr_client-*.whl")
    return own, client


def environment(folder: Path, wheel: Path) -> Path:
    """An environment with nothing but a wheel and what it depends on; its folder of programs."""
    run(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    pip = (folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--constraint", ROOT / "constraints.txt", wheel, cwd=folder)
    return folder / "bin"


def size(programs: Path) -> str:
    """Megabytes of an environment, without what came with it and without compiled bytecode."""
    tools = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
    (packages,) = programs.parent.glob("lib/python*/site-packages")
    files = [
        path
        for top in packages.iterdir()
        if not top.name.startswith(tools)
        for path in (top, *top.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    ]
    return f"{sum(path.stat().st_size for path in files) / 1e6:.0f} MB"


@contextmanager
def serving(programs: Path, folder: Path) -> Iterator[str]:
    """`llr serve` on a free port; its address."""
    store = f"sqlite:///{folder / 'llr.db'}"
    command = [str(programs / "llr"), "serve", "--port", "0", "--store", store]
    command += ["--log-level", "warning"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stdout  # noqa: S101 - it is a pipe
            found = re.search(r"http://\S+", process.stdout.readline())
            if found is None:
                raise Wrong("llr serve does not say where it listens")
            yield found[0]
        finally:
            process.terminate()
            process.wait(30)


def fetched(url: str) -> str:
    """The body of an answer."""
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:  # noqa: S310 - loopback
        return str(answer.read().decode())


def try_client(wheel: Path, folder: Path) -> str:
    """Install the SDK alone and use it; says what it weighs."""
    programs = environment(folder, wheel)
    said = run(programs / "python", "-c", SDK_ALONE, cwd=folder).strip()
    if run(programs / "python", "-c", HAS_NUMPY, cwd=folder).strip() != "False":
        raise Wrong("the SDK brings numpy")
    compiled = [*folder.glob("lib/**/*.so")]
    if compiled:
        raise Wrong(f"the SDK brings compiled files: {compiled}")
    return f"{said}: {size(programs)} installed, nothing compiled, no numpy"


def try_own(wheel: Path, folder: Path) -> str:
    """Install everything but the extras and use it; says what it weighs."""
    programs = environment(folder, wheel)
    said = run(programs / "llr", "--version", cwd=folder).strip()
    with serving(programs, folder) as address:
        served = fetched(f"{address}/version")
    if f'"{said.split()[-1]}"' not in served:
        raise Wrong(f"{said} serves another version: {served}")
    refused = run(programs / "llr", "demo", cwd=folder, code=1)
    if "pip install 'llr[figures]'" not in refused:
        raise Wrong(f"llr demo does not name the extra it needs: {refused}")
    return f"{said}: {size(programs)} installed, serves, names missing extras"


def main() -> int:
    """Build, check, try and keep both wheels."""
    with tempfile.TemporaryDirectory(prefix="llr-dist-") as name:
        folder = Path(name)
        own, client = build(folder)
        check(own, client)
        for done in (try_client(client, folder / "client"), try_own(own, folder / "own")):
            sys.stdout.write(f"{done}\n")
        shutil.rmtree(ROOT / "dist", ignore_errors=True)
        (ROOT / "dist").mkdir()
        for wheel in (own, client):
            kept = shutil.copy(wheel, ROOT / "dist")
            sys.stdout.write(f"{kept}\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(f"make dist: {wrong}")
