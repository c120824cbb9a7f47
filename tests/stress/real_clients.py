"""Row 25: programs that people use create a session, learn, predict and read an event stream."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from shutil import which

from support.balancer import Balancer
from support.caddy import Caddy
from support.serving import started

from scripts.system_programs import need

from .verdict import Tick, Verdict

PROGRAMS = Path(__file__).parent / "clients"
CONFIG, SAMPLE = '{"model": "linear", "dim": 2}', '{"x": [1.0, 2.0], "y": 3.0}'
JSON = ("-H", "content-type: application/json")
WAYS: dict[str, tuple[str, ...]] = {
    "1.0": ("--http1.0",),
    "1.1": ("--http1.1",),
    "http2": ("--http2",),
    "chunked": ("-H", "transfer-encoding: chunked"),
    "expect": ("-H", "expect: 100-continue"),
}
"""Ways of curl to send a request. With `--http2` it offers h2c every time."""
SECONDS = 120.0
Client = Callable[[str, Path], None]


def output(*command: str, given: str | None = None) -> str:
    """What a program writes; it has to succeed."""
    done = subprocess.run(  # noqa: S603
        command, input=given, check=False, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
    return done.stdout


def curl(way: str, url: str, _: Path) -> None:
    """All steps by curl, in one way; bodies come through a pipe."""
    program = (need("curl"), "-sS", "--fail-with-body", "--max-time", "60", *WAYS[way])

    def ask(method: str, url: str, body: str) -> str:
        return output(*program, "-X", method, *JSON, "--data-binary", "@-", url, given=body)

    ask("PUT", url, CONFIG)
    for _sample in range(3):
        ask("POST", f"{url}/samples", SAMPLE)
    assert "prediction" in ask("POST", f"{url}/predict", '{"x": [1.0, 2.0]}')
    version = [option for option in WAYS[way] if option.startswith("--")]  # others are of bodies
    reading = [need("curl"), "-sSN", *version, f"{url}/events"]
    with subprocess.Popen(reading, stdout=subprocess.PIPE, text=True) as events:  # noqa: S603
        assert events.stdout is not None
        assert "id: 3\n" in iter(events.stdout.readline, "")
        events.kill()


def program(*command: str) -> Client:
    """All steps by a program that is told the address of a session."""

    def steps(url: str, _: Path) -> None:
        predicted, event = output(*command, url).splitlines()
        assert "prediction" in predicted
        assert event == "id: 3"

    return steps


def java(url: str, folder: Path) -> None:
    """The same by Java's own client."""
    if not (folder / "Client.class").exists():
        output(need("javac"), "-d", str(folder), str(PROGRAMS / "Client.java"))
    run = which("java") or "java"
    program(run, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", str(folder), "Client")(
        url, folder
    )


def go(url: str, folder: Path) -> None:
    """The same by Go's own client."""
    built = folder / "client"
    if not built.exists():
        output(need("go"), "build", "-o", str(built), str(PROGRAMS / "client.go"))
    program(str(built))(url, folder)


def node(url: str, folder: Path) -> None:
    """The same by Node's fetch."""
    program(need("node"), str(PROGRAMS / "client.mjs"))(url, folder)


CLIENTS: dict[str, Client] = {
    **{f"curl {way}": partial(curl, way) for way in WAYS},
    "java": java,
    "node": node,
    "go": go,
    "python": program(sys.executable, str(PROGRAMS / "client.py")),
}


@contextmanager
def ways_in(folder: Path) -> Iterator[dict[str, int]]:
    """Ports of a service: its own, and those of nginx and Caddy in front of it."""
    with ExitStack() as stack:
        server = stack.enter_context(started(folder))
        place = [f"127.0.0.1:{server.port}"]
        nginx, caddy = stack.enter_context(Balancer(place)), stack.enter_context(Caddy(place))
        yield {"directly": server.port, "nginx": nginx.port, "caddy": caddy.port}


def run(folder: Path, seed: int, count: int, tick: Tick) -> Verdict:
    """So many runs of clients in turn, each directly and through nginx and Caddy."""
    faults = []
    with ways_in(folder) as ports:
        for number, (name, steps) in enumerate(islice(cycle(CLIENTS.items()), count)):
            scratch = folder / f"run{number}"
            scratch.mkdir()
            for way, port in ports.items():
                url = f"http://127.0.0.1:{port}/v1/sessions/s{seed}-{number}-{way}"
                try:
                    steps(url, scratch)
                except (AssertionError, ValueError, subprocess.TimeoutExpired) as failure:
                    faults.append(f"{name}, {way}: {json.dumps(str(failure)[:500])}")
            tick()
    counts = {"clients": len(CLIENTS), "runs": count, "ways in": 3}
    return Verdict(counts, "every step of every client succeeds", faults)
