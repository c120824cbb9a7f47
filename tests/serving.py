"""The real service as a process of its own, on a free port of loopback."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def serving(store: str, **settings: str) -> Iterator[str]:
    """The address of a running service, `127.0.0.1:port`; it is told to stop at the end."""
    environment = os.environ | {f"LLR_{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "service", "--port", "0", "--store", store]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            yield process.stdout.readline().rpartition("//")[2].strip()
        finally:
            process.terminate()
            process.wait(timeout=20)
