"""Runs the image as docker-compose.yml says, without an engine: `make image-test`.

The service starts in a container of its own with a read-only root, without capabilities, and with
the user, command, health check, environment and volume that the image and the compose file name.
Once it is healthy the replay client of the same image feeds it one stream over a network of their
own. Then SIGTERM stops it, and a second one on the same volume must have the same sessions.

podman-compose reads the compose file, buildah mounts the image, crun runs the containers.
scripts/image.sh calls this in namespaces that end with it: no mount and no process is left.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[1]
RUN = os.environ.get("LLR_IMAGE_RUN", "")
"""A folder of scripts/image.sh for what is running; it is removed at the end."""
BUILDAH = ["buildah", "--root", str(ROOT / ".image/storage"), "--runroot", RUN]
CRUN = ["crun", "--root", f"{RUN}/crun", "--cgroup-manager=disabled"]
STREAM = ["gaussian", "--samples", "500", "--json"]
"""What the replay client feeds instead of `all`."""
TIMEOUT = 120.0
"""Seconds after which any single command fails."""
ENFORCED = {"image", "read_only", "tmpfs", "cap_drop", "security_opt", "environment", "volumes"}
ENFORCED |= {"command", "healthcheck", "depends_on", "stop_grace_period"}
SYSTEM_MOUNTS: list[dict[str, Any]] = [
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
    {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["mode=1777"]},  # noqa: S108
]
NAMESPACES = ("pid", "ipc", "uts", "mount")
NOT_TRIED = {"build", "ports", "restart"}
"""What an engine does with a container from outside."""


class Failed(Exception):
    """The image does not do what the compose file promises."""


def say(text: str) -> None:
    """Report a step that succeeded."""
    sys.stdout.write(f"image-test: {text}\n")
    sys.stdout.flush()


def run(*words: str, env: dict[str, str] | None = None) -> str:
    """The output of a command; raises Failed with its errors."""
    done = subprocess.run(  # noqa: S603
        words, env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if done.returncode:
        raise Failed(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def compose() -> dict[str, Any]:
    """The services of docker-compose.yml as podman-compose reads it.

    Its --podman-path must be a program that knows --version; nothing else is asked of it here.
    The variables that the compose file reads have their defaults, or what .env says.
    """
    tool = Path(sys.executable).with_name("podman-compose")
    env = {name: value for name, value in os.environ.items() if not name.startswith("LLR_")}
    command = [str(tool), "--podman-path", sys.executable]
    text = run(*command, "--file", str(ROOT / "docker-compose.yml"), "config", env=env)
    services: dict[str, Any] = yaml.safe_load(text)["services"]
    for name in ("service", "replay"):
        if unknown := set(services[name]) - ENFORCED - NOT_TRIED:
            raise Failed(f"this test does not know {sorted(unknown)} of the service {name}")
    return services


@contextmanager
def mounted(image: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The root folder of an image and its configuration."""
    found = json.loads(run(*BUILDAH, "inspect", "--type", "image", image))
    container = run(*BUILDAH, "from", "--pull-never", image).strip()
    try:
        root = run(*BUILDAH, "mount", container).strip()
        yield Path(root), found["Docker"]["config"]
    finally:
        run(*BUILDAH, "rm", container)


class Container:
    """A service of the compose file, run by crun.

    Args:
        name: its name in the compose file.
        options: what the compose file says of it.
        root: the root folder of the image.
        config: the configuration of the image.
        folder: where its files and the volumes are.
    """

    def __init__(
        self, name: str, options: dict[str, Any], root: Path, config: dict[str, Any], folder: Path
    ) -> None:
        self.name, self._options, self._config = name, options, config
        self._root, self._volumes = root, folder
        self._bundle = folder / name
        self._bundle.mkdir(exist_ok=True)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, command: list[str] | None = None, network: int | None = None) -> None:
        """Start it, with a network of its own or with that of a process."""
        words = command or self._options.get("command") or self._config["Cmd"]
        spec = self.specification(words, network)
        (self._bundle / "config.json").write_text(json.dumps(spec))
        crun = [*CRUN, "run", f"--bundle={self._bundle}", self.name]
        with open(self._bundle / "log", "wb") as log, open(self._bundle / "out", "wb") as out:
            self._process = subprocess.Popen(crun, stdout=out, stderr=log)  # noqa: S603

    def log(self) -> str:
        """What it wrote to its standard error."""
        return (self._bundle / "log").read_text()

    def output(self) -> str:
        """What it wrote to its standard output."""
        return (self._bundle / "out").read_text()

    def pid(self) -> int:
        """Its first process, as this process sees it."""
        return int(json.loads(run(*CRUN, "state", self.name))["pid"])

    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process is not None and self._process.poll() is None

    def execute(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command inside it."""
        crun = [*CRUN, "exec", self.name, *words]
        return subprocess.run(  # noqa: S603
            crun, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )

    def wait(self, seconds: float) -> int:
        """Its exit code; raises Failed if it goes on for longer than this."""
        if self._process is None:
            raise Failed(f"{self.name} was not started")
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} did not end in {seconds:g} s\n{self.log()}") from None

    def stop(self) -> float:
        """Send SIGTERM; the seconds until it ended, within the grace period and with code 0."""
        began = time.perf_counter()
        run(*CRUN, "kill", self.name, "TERM")
        code = self.wait(seconds(self._options.get("stop_grace_period", "10s")))
        if code:
            raise Failed(f"{self.name} ended with exit code {code}\n{self.log()}")
        return time.perf_counter() - began

    def until_healthy(self) -> float:
        """Seconds until its health check passed; raises Failed after as long as an engine waits."""
        check = health_check(self._config["Healthcheck"], self._options.get("healthcheck") or {})
        period, patience = check.interval, check.start_period + check.retries * check.interval
        began = time.perf_counter()
        while time.perf_counter() - began < patience:
            if not self.running():
                raise Failed(f"{self.name} ended before it was healthy\n{self.log()}")
            if self.execute(*check.command).returncode == 0:
                return time.perf_counter() - began
            time.sleep(min(0.25, period))
        raise Failed(f"{self.name} was not healthy in {patience:g} s\n{self.log()}")

    def specification(self, command: list[str], network: int | None = None) -> dict[str, Any]:
        """What an OCI runtime reads: config.json."""
        user, _, group = self._config["User"].partition(":")
        kept = [] if self._options.get("cap_drop") == ["ALL"] else ["CAP_NET_BIND_SERVICE"]
        space: dict[str, Any] = {"type": "network"}
        if network is not None:
            space["path"] = f"/proc/{network}/ns/net"
        return {
            "ociVersion": "1.0.0",
            "hostname": self.name,
            "root": {"path": str(self._root), "readonly": bool(self._options.get("read_only"))},
            "process": {
                "user": {"uid": int(user), "gid": int(group)},
                "args": command,
                "env": self._config["Env"] + _assignments(self._options.get("environment") or {}),
                "cwd": self._config["WorkingDir"],
                "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), kept),
                "noNewPrivileges": "no-new-privileges:true"
                in self._options.get("security_opt", []),
            },
            "mounts": [*SYSTEM_MOUNTS, _bind(self._hosts(), "/etc/hosts", "ro"), *self._mounts()],
            "linux": {"namespaces": [*({"type": name} for name in NAMESPACES), space]},
        }

    def _mounts(self) -> Iterator[dict[str, Any]]:
        for place in self._options.get("tmpfs", []):
            options = ["nosuid", "nodev", "mode=1777"]
            yield {"destination": place, "type": "tmpfs", "source": "tmpfs", "options": options}
        for volume in self._options.get("volumes", []):
            source, _, place = volume.partition(":")
            yield _bind(self._volume(source, place), place, "rw")

    def _volume(self, name: str, place: str) -> Path:
        """A named volume; a new one belongs to the owner of the folder it covers."""
        folder, covered = self._volumes / f"volume-{name}", (self._root / place.lstrip("/")).stat()
        if not folder.exists():
            folder.mkdir()
            folder.chmod(covered.st_mode & 0o7777)
            os.chown(folder, covered.st_uid, covered.st_gid)
        return folder

    def _hosts(self) -> Path:
        """The names of an engine's network: all containers here share one."""
        path = self._bundle / "hosts"
        path.write_text("127.0.0.1 localhost service replay\n")
        return path


def _assignments(environment: dict[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in environment.items()]


def _bind(source: Path, place: str, mode: str) -> dict[str, Any]:
    options = ["bind", mode, "nosuid", "nodev"]
    return {"destination": place, "type": "bind", "source": str(source), "options": options}


class HealthCheck(NamedTuple):
    """A health check: its command, and its times in seconds."""

    command: list[str]
    interval: float
    start_period: float
    retries: int


def health_check(image: dict[str, Any], service: dict[str, Any]) -> HealthCheck:
    """The health check of a service: the image's, changed by what the compose file says."""
    if unknown := set(service) - {"test", "interval", "timeout", "start_period", "retries"}:
        raise Failed(f"a health check cannot be tried with {', '.join(sorted(unknown))}")
    kind, *command = service.get("test", image["Test"])
    if kind != "CMD":
        raise Failed(f"a health check of the kind {kind} cannot be tried")
    times = {"interval": image["Interval"] / 1e9, "start_period": image["StartPeriod"] / 1e9}
    times |= {name: seconds(service[name]) for name in times if name in service}
    return HealthCheck(command, **times, retries=service.get("retries", image["Retries"]))


def seconds(duration: str) -> float:
    """A duration of the compose file."""
    if not duration.endswith("s"):
        raise Failed(f"not a number of seconds: {duration}")
    return float(duration.removesuffix("s"))


def asked(service: Container, *words: str) -> Any:
    """What the command in the image answers."""
    done = service.execute("llr", "sessions", *words, "--json")
    if done.returncode:
        raise Failed(f"llr sessions {' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def sessions(service: Container) -> list[dict[str, Any]]:
    """All of every session, as the command in the image shows it."""
    return [asked(service, "show", one["name"]) for one in asked(service)]


def confined(service: Container, config: dict[str, Any]) -> None:
    """Check that its process has the image's user, no rights, and a read-only root."""
    text = Path(f"/proc/{service.pid()}/status").read_text()
    status = {line.split(":")[0]: line.split()[1:] for line in text.splitlines()}
    user, _, group = config["User"].partition(":")
    wanted = {"Uid": [user] * 4, "Gid": [group] * 4, "NSpid": [*status["NSpid"][:-1], "1"]}
    wanted |= {"CapEff": ["0" * 16], "CapBnd": ["0" * 16], "NoNewPrivs": ["1"]}
    for name, value in wanted.items():
        if status[name] != value:
            raise Failed(f"{name} of the service is {status[name]}, not {value}")
    for place in ("/opt/llr", "/etc", "/"):
        if "Read-only" not in service.execute("touch", f"{place}/x").stderr:
            raise Failed(f"{place} is not read-only")
    say(f"PID 1 is user {user}, without capabilities; the root is read-only")


def not_compiled(service: Container, root: Path, config: dict[str, Any]) -> None:
    """Check that the service uses a copy of the image's kernels and compiled none."""
    env = dict(one.split("=", 1) for one in config["Env"])
    baked = _kernels(root / env["LLR_KERNELS"].lstrip("/"))
    used = [*Path(f"/proc/{service.pid()}/root/tmp").glob("llr-kernels-*")]
    if not baked or not used or any(_kernels(folder) != baked for folder in used):
        raise Failed("the kernels of the image do not fit: the service compiled its own")
    say(f"{len(baked)} files of compiled kernels come from the image, and no other was compiled")


def _kernels(folder: Path) -> dict[str, int]:
    """Files of compiled kernels: the names, and when each was written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.nb*")}


def try_out(image: str, services: dict[str, Any], folder: Path) -> None:
    """Start, feed, stop, start again, compare."""
    with mounted(image) as (root, config):
        service = Container("service", services["service"], root, config, folder)
        replay = Container("replay", services["replay"], root, config, folder)
        service.start()
        say(f"healthy {service.until_healthy():.1f} s after the start")
        confined(service, config)
        not_compiled(service, root, config)

        command = services["replay"]["command"]
        at = command.index("all")
        replay.start([*command[:at], *STREAM, *command[at + 1 :]], network=service.pid())
        if replay.wait(TIMEOUT):
            raise Failed(f"the replay client failed\n{replay.log()}")
        before = sessions(service)
        if not before or any(one["t"] != 500 for one in before):
            raise Failed(f"the replay client fed {before}")
        say(f"the replay client fed {len(before)} sessions with {before[0]['t']} samples each")

        say(f"stopped by SIGTERM in {service.stop():.1f} s, with exit code 0")
        if service.execute("true").returncode == 0:
            raise Failed("the service runs on after it stopped")
        service.start()
        say(f"healthy {service.until_healthy():.1f} s after the second start")
        if sessions(service) != before:
            raise Failed(f"the sessions were {before}\nand are {sessions(service)}")
        say("the same sessions are there")
        service.stop()


def main() -> int:
    """Run all; the exit code."""
    if not os.environ.get("LLR_IMAGE_RUN"):
        sys.stderr.write("image-test: run it with make image-test\n")
        return 2
    began = time.perf_counter()
    try:
        services = compose()
        with tempfile.TemporaryDirectory(prefix="llr-image-") as folder:
            Path(folder).chmod(0o755)
            try_out(services["service"]["image"], services, Path(folder))
    except Failed as problem:
        sys.stderr.write(f"image-test: {problem}\n")
        return 1
    say(f"passed in {time.perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
