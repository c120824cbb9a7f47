"""System programs that the tests run, and how apt installs the missing ones.

    python scripts/system_programs.py             install what is missing
    python scripts/system_programs.py --list      show what is here and what is missing
    python scripts/system_programs.py --image     install what `make image` needs
    python scripts/system_programs.py --venv      install what `python -m venv` needs

No server starts, now or at the next boot: packages that are servers are installed with their
start-up turned off, and packages of which one program is enough are unpacked only. A program that
cannot be installed is reported and the exit code is still 0, so that `make test` runs the other
tests; those that need the program then fail (tests/support/missing_programs.py).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

FOLDERS = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
POSTGRES = Path("/usr/lib/postgresql")
POLICY = Path("/usr/sbin/policy-rc.d")
CLUSTERS = Path("/etc/postgresql-common/createcluster.conf")


class Program(NamedTuple):
    """A program that tests run.

    Attributes:
        name: its file name.
        packages: the Debian packages that bring it; of one that is unpacked, the first that has it.
        tests: what is tested with it.
        unpacked: its package is also a server; the program alone is copied out of it.
        services: what its packages would start at boot.
    """

    name: str
    packages: tuple[str, ...]
    tests: str
    unpacked: bool = False
    services: tuple[str, ...] = ()

    @property
    def by_hand(self) -> str:
        """What to install where this script may not."""
        return " ".join(self.packages[-1:] if self.unpacked else self.packages)


PROGRAMS = (
    Program("curl", ("curl",), "the commands of the documentation"),
    Program("chromium", ("chromium", "fonts-dejavu-core"), "the dashboard in a browser"),
    Program("initdb", ("postgresql",), "Postgres as a store", services=("postgresql",)),
    Program("nginx", ("nginx-light",), "replicas behind a balancer", services=("nginx",)),
    Program("caddy", ("caddy",), "replicas behind a balancer", unpacked=True),
    Program("ip", ("iproute2",), "replicas on hosts of their own, which are network namespaces"),
    Program("mosquitto", ("mosquitto",), "the MQTT connector", services=("mosquitto",)),
    Program("redis-server", ("redis-server",), "the Redis connector", services=("redis-server",)),
    Program("promtool", ("promtool", "prometheus"), "the alerts", unpacked=True),
    Program("systemd-analyze", ("systemd",), "the systemd unit"),
    Program("javac", ("default-jdk-headless",), "the Java client"),
    Program("node", ("nodejs",), "the JavaScript client"),
    Program("go", ("golang-go",), "the Go client"),
)
IMAGE_PROGRAMS = (
    Program("buildah", ("buildah",), "the image, built"),
    Program("crun", ("crun",), "the image, run"),
    Program(
        "debootstrap",
        ("debootstrap", "debian-archive-keyring"),
        "its base image, where no registry of images can be reached",
    ),
)


class Missing(Exception):
    """A program is not installed.

    Args:
        name: its file name.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"{self.name} is missing: python scripts/system_programs.py installs it"


def find(name: str) -> str | None:
    """The path of a program, on the PATH or where Debian keeps it."""
    path = shutil.which(name) or shutil.which(name, path=FOLDERS)
    versions = sorted(POSTGRES.glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    return path or (str(versions[-1]) if versions else None)


def need(name: str) -> str:
    """The path of a program; raises Missing."""
    path = find(name)
    if path is None:
        raise Missing(name)
    return path


def missing(programs: Iterable[Program] = PROGRAMS) -> list[Program]:
    """Those that are not here."""
    return [program for program in programs if find(program.name) is None]


class Apt:
    """apt-get as root, or through sudo; `reason` says why it cannot be used."""

    def __init__(self) -> None:
        self._root: list[str] = []
        self.reason = self._prepare()
        self._updated = False

    def _prepare(self) -> str | None:
        if shutil.which("apt-get") is None:
            return "this machine has no apt-get"
        if os.geteuid() == 0:
            return None
        if shutil.which("sudo") is None:
            return "only root may install packages, and there is no sudo"
        self._root = ["sudo"] if sys.stdin.isatty() else ["sudo", "--non-interactive"]
        if not self.run("true", quiet=True):
            return "only root may install packages, and sudo does not let this user"
        return None

    def run(self, *command: str, quiet: bool = False, cwd: str | None = None) -> bool:
        """Run a command as root; whether it succeeded."""
        words = [*self._root, *command]
        hidden = subprocess.DEVNULL if quiet else None
        done = subprocess.run(words, stdout=hidden, stderr=hidden, cwd=cwd, check=False)  # noqa: S603
        return done.returncode == 0

    def _apt(self, *words: str, cwd: str | None = None) -> bool:
        options = [
            "-qq",
            "-o=Acquire::Retries=2",
            "-o=Dpkg::Use-Pty=0",
            "-o=APT::Sandbox::User=root",
        ]
        if not self._updated:
            self._updated = True  # a failure shows when a package is not found
            self.run("apt-get", *options, "update")
        return self.run(
            "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *options, *words, cwd=cwd
        )

    def install(self, packages: Sequence[str]) -> bool:
        """Install packages."""
        return self._apt("install", "--yes", "--no-install-recommends", *packages)

    def copy_program(self, program: Program) -> bool:
        """Copy a program to /usr/local/bin, out of the first of its packages that has it."""
        return any(self._copied(program.name, package) for package in program.packages)

    def _copied(self, name: str, package: str) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            inside = f"{folder}/usr/bin/{name}"
            return (
                self._apt("download", package, cwd=folder)
                and self.run("sh", "-c", f"dpkg --extract {folder}/*.deb {folder}")
                and self.run("install", "-m755", inside, "/usr/local/bin/", quiet=True)
            )

    def write(self, path: Path, text: str, mode: str = "644") -> None:
        """Write a file of the system."""
        with tempfile.NamedTemporaryFile("w") as scratch:
            scratch.write(text)
            scratch.flush()
            self.run("install", "-D", f"-m{mode}", scratch.name, str(path))

    @contextmanager
    def without_servers(self) -> Iterator[None]:
        """Let packages start nothing while they are installed."""
        files = {POLICY: ("#!/bin/sh\nexit 101\n", "755")}
        files[CLUSTERS] = ("create_main_cluster = false\n", "644")
        made = [path for path in files if not path.exists()]
        for path in made:
            self.write(path, *files[path])
        try:
            yield
        finally:
            self.run("rm", "-f", *map(str, made))


def install(programs: Sequence[Program]) -> None:
    """Install programs; one that cannot be had keeps no other from being installed."""
    apt = Apt()
    if apt.reason is not None:
        sys.stderr.write(f"nothing is installed: {apt.reason}\n")
        return
    whole = [program for program in programs if not program.unpacked]
    with apt.without_servers():
        packages = [package for program in whole for package in program.packages]
        if packages and not apt.install(packages):
            for program in missing(whole):
                apt.install(program.packages)
    for program in programs:
        if program.unpacked:
            apt.copy_program(program)
    services = [service for program in whole for service in program.services]
    if services and Path("/run/systemd/system").exists():
        apt.run("systemctl", "disable", "--quiet", *services)


def install_venv() -> int:
    """Install what Debian leaves out of Python; 1, with a sentence, where that is not possible."""
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    if os.environ.get("INSTALL", "yes") == "yes":
        apt = Apt()
        if apt.reason is None and apt.install([package]):
            return 0
        reason = apt.reason or "apt could not install it"
    else:
        reason = "INSTALL=no forbids to install it"
    sys.stderr.write(
        f"{sys.executable} cannot make a virtual environment: Debian has that in the package "
        f"{package}, and {reason}. Install it, or name another Python: make PYTHON=python3.12\n"
    )
    return 1


def report(programs: Iterable[Program]) -> str:
    """Missing programs, each with what is tested with it, in a sentence."""
    return "; ".join(
        f"{program.name} ({program.tests}; apt-get install {program.by_hand})"
        for program in programs
    )


def main() -> int:
    """Do what the command line asks."""
    parser = argparse.ArgumentParser(description="Install the system programs that the tests run.")
    parser.add_argument("--list", action="store_true", help="install nothing, list all")
    parser.add_argument("--image", action="store_true", help="what `make image` needs instead")
    parser.add_argument("--venv", action="store_true", help="install what `python -m venv` needs")
    asked = parser.parse_args()
    if asked.venv:
        return install_venv()
    programs = IMAGE_PROGRAMS if asked.image else PROGRAMS
    if asked.list:
        for program in programs:
            sys.stdout.write(f"{program.name:13} {find(program.name) or '-':35} {program.tests}\n")
        return 0
    before = missing(programs)
    if before:
        sys.stderr.write(f"installing {', '.join(program.name for program in before)}\n")
        install(before)
    left = missing(programs)
    if left:
        sys.stderr.write(f"still missing: {report(left)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
