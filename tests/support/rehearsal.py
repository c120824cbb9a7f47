"""What a build of the image would do, done without one: python -m support.rehearsal

Every instruction of the Dockerfile is carried out in a folder that stands for the root of the
image, in an environment that holds what the Dockerfile sets and nothing else; absolute paths that
the image would have lead into that folder. Then the command of the image is started and its health
check asked. The base image is this Python, the user is whoever runs this, and file owners are not
set: that part only a real build shows.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from socket import create_server

from support.dockerfile import Ignored, Instruction, assignments, expanded, stages
from support.root import ROOT

PLACES = ("/opt/llr", "/src", "/var/lib/llr")
"""Paths of the image that its instructions write to."""
REACH = re.compile(r"(?i)PIP_(?!CONSTRAINT|NO_CACHE|DISABLE).*|SSL_.*|REQUESTS_.*|.*_PROXY")
"""Variables of this machine that say how packages are got here."""
PATIENCE, PAUSE = 120.0, 0.5


class Image:
    """The image as far as it was made."""

    def __init__(self, folder: Path) -> None:
        self.root, self._aside = folder / "root", folder / "stages"
        self._ignored = Ignored((ROOT / ".dockerignore").read_text())
        self.env: dict[str, str] = {}
        self.workdir = "/"
        self.health: Instruction | None = None
        self.command: list[str] = []
        tools = folder / "bin"
        tools.mkdir()
        (tools / "python").symlink_to(getattr(sys, "_base_executable", sys.executable))
        self._base = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(folder)}
        self._envs: dict[str, dict[str, str]] = {}

    def build(self, text: str) -> None:
        """Carry out a whole Dockerfile."""
        for stage in stages(text):
            self.env, self.workdir = dict(self._envs.get(stage.origin, self._base)), "/"
            self.root.mkdir()
            for instruction in stage.instructions:
                print(f"{instruction.keyword:11} {instruction.rest[:88]}", flush=True)
                getattr(self, f"_{instruction.keyword.lower()}", self._nothing)(instruction)
            if stage.name:
                self._envs[stage.name] = self.env
                shutil.move(self.root, self._aside / stage.name)

    def inside(self, text: str) -> str:
        """A text with the paths of the image leading into its root."""
        for place in PLACES:
            text = re.sub(rf"(?<![\w.]){re.escape(place)}", f"{self.root}{place}", text)
        return text

    def start(self, words: list[str], **more: str) -> "subprocess.Popen[str]":
        """A command in the environment of the image."""
        env = {name: self.inside(value) for name, value in (self.env | more).items()}
        where = self.root / self.workdir.lstrip("/")
        words = [shutil.which(words[0], path=env["PATH"]) or words[0], *words[1:]]
        return subprocess.Popen(  # noqa: S603
            words, env=env, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def kernels(self) -> dict[Path, int]:
        """The compiled kernels in the image, and when each was written."""
        folder = Path(self.inside(self.env["LLR_KERNELS"]))
        return {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb*")}

    def _env(self, instruction: Instruction) -> None:
        for name, value in assignments(instruction).items():
            self.env[name] = expanded(value, self.env)

    def _arg(self, instruction: Instruction) -> None:
        self._env(instruction)

    def _workdir(self, instruction: Instruction) -> None:
        self.workdir = instruction.rest
        (self.root / self.workdir.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def _copy(self, instruction: Instruction) -> None:
        *sources, target = instruction.words
        stage = instruction.flags.get("from")
        there = self.root / os.path.join(self.workdir, target).lstrip("/")
        for source in sources:
            path = self._aside / stage / source.lstrip("/") if stage else ROOT / source
            into = there / path.name if path.is_file() and target.endswith("/") else there
            into.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                keep = None if stage else self._left_out
                shutil.copytree(path, into, symlinks=True, ignore=keep)
            else:
                shutil.copy2(path, into)

    def _left_out(self, folder: str, names: list[str]) -> set[str]:
        within = Path(folder).relative_to(ROOT)
        return {name for name in names if str(within / name) in self._ignored}

    def _run(self, instruction: Instruction) -> None:
        command = re.sub(r"-[og] \d+ ", "", instruction.rest)  # owners need root
        reach = {name: value for name, value in os.environ.items() if REACH.fullmatch(name)}
        reach["XDG_CONFIG_HOME"] = str(Path.home() / ".config")
        process = self.start(["/bin/sh", "-ec", self.inside(command)], **reach)
        _, errors = process.communicate()
        if process.returncode:
            raise SystemExit(f"failed with {process.returncode}: {command}\n{errors[-2000:]}")

    def _healthcheck(self, instruction: Instruction) -> None:
        _, _, rest = instruction.rest.partition("CMD ")
        self.health = instruction._replace(rest=rest)

    def _cmd(self, instruction: Instruction) -> None:
        self.command = instruction.words

    def _nothing(self, instruction: Instruction) -> None:
        """EXPOSE, USER, VOLUME: for an engine."""


def try_out(image: Image) -> None:
    """Start the service as the image would, ask for its health, stop it, ask again."""
    with create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    where = {"LLR_HOST": "127.0.0.1", "LLR_PORT": port}
    kernels, began = image.kernels(), time.perf_counter()
    service = image.start(image.command, **where)
    ready = False
    while not ready and service.poll() is None and time.perf_counter() - began < PATIENCE:
        time.sleep(PAUSE)
        ready = healthy(image, where)
    seconds = time.perf_counter() - began
    service.send_signal(signal.SIGTERM)
    _, errors = service.communicate()
    if not ready:
        raise SystemExit(f"the service did not become healthy: {errors}")
    if not kernels or kernels != image.kernels():
        raise SystemExit("the kernels were not in the image: they were compiled at the start")
    if service.returncode or healthy(image, where):
        raise SystemExit(f"it did not stop in order: exit code {service.returncode}")
    print(f"healthy {seconds:.1f} s after its start, without compiling; ended with exit code 0")


def healthy(image: Image, where: dict[str, str]) -> bool:
    """What the image's health check says."""
    if image.health is None:
        raise SystemExit("there is no health check")
    check = image.start(image.health.words, **where)
    check.communicate()
    return check.returncode == 0


def main() -> None:
    """Build, and try out what was built."""
    with tempfile.TemporaryDirectory(prefix="llr-image-") as folder:
        image = Image(Path(folder))
        (Path(folder) / "stages").mkdir()
        image.build((ROOT / "Dockerfile").read_text())
        size = sum(p.lstat().st_size for p in image.root.rglob("*") if not p.is_symlink())
        print(f"{size >> 20} MiB on top of the base image")
        try_out(image)


if __name__ == "__main__":
    main()
