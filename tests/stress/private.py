"""A harness in a private network: a process that sees nobody, and all it starts ends with it.

No rights are needed: inside a user namespace of its own a process may make networks. It is not
root there either, because Postgres refuses to run as root.
"""

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

from .verdict import Tick, Verdict

TESTS = Path(__file__).parent.parent
BEGUN, TICK = "begun\n", "tick\n"
NEEDED = "hosts need network namespaces for ordinary users, which are not to be had here"


def outside(module: str, seed: int, count: int, tick: Tick) -> Verdict:
    """Run a harness, `module`, inside; what came of it. A system that forbids it is a fault."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [*_unshare(), sys.executable, "-m", module, str(seed), str(count)]
    pipe = subprocess.PIPE
    with subprocess.Popen(  # noqa: S603
        command, stdout=pipe, stderr=pipe, text=True, env=os.environ | {"PYTHONPATH": path}
    ) as process:
        assert process.stdout
        assert process.stderr
        begun = process.stdout.readline() == BEGUN
        told = _heard(process.stdout, tick)
        said = process.stderr.read().strip()
    return told or Verdict({}, "", [said if begun else f"{NEEDED}: {said}"])


def inside(run: Callable[[int, int, Tick], Verdict]) -> None:
    """Run a harness here and tell the other side."""
    seed, count = map(int, sys.argv[1:])
    _say(BEGUN)
    verdict = run(seed, count, lambda: _say(TICK))
    _say(json.dumps(verdict))


def _heard(said: IO[str], tick: Tick) -> Verdict | None:
    for line in said:
        if line != TICK:
            return Verdict(*json.loads(line))
        tick()
    return None


def _say(words: str) -> None:
    sys.stdout.write(words)
    sys.stdout.flush()


def _unshare() -> list[str]:
    nobody = pwd.getpwnam("nobody")
    who = ["--user", f"--map-user={nobody.pw_uid}", f"--map-group={nobody.pw_gid}", "--keep-caps"]
    return ["unshare", *who, "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]
