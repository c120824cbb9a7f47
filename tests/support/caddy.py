"""Caddy in front of replicas, with the configuration that is shipped."""

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from scripts.system_programs import need
from support.balancer import free, listens
from support.root import ROOT

SHIPPED = ROOT / "deploy" / "Caddyfile"
PLACES = re.compile(r"reverse_proxy( replica-\d:8080)+ ")
PRIVATE = "{\n\tadmin off\n}\n"
"""Nobody may change it while it runs."""


def configuration(places: Sequence[str], port: int) -> str:
    """The shipped one, with these places, on a port of loopback."""
    text, count = PLACES.subn(f"reverse_proxy {' '.join(places)} ", SHIPPED.read_text())
    assert count == 1
    assert text.count("\n:8080 {\n") == 1
    return PRIVATE + text.replace("\n:8080 {\n", f"\n:{port} {{\n\tbind 127.0.0.1\n")


class Caddy:
    """A running Caddy on a free port; `with` ends it.

    Args:
        places: where the replicas listen, as `host:port`.
    """

    def __init__(self, places: Sequence[str]) -> None:
        path = need("caddy")
        self._folder = tempfile.TemporaryDirectory(prefix="llr-caddy-")
        self.host, self.port = "127.0.0.1", free()
        config = Path(self._folder.name) / "Caddyfile"
        config.write_text(configuration(places, self.port))
        self._process = subprocess.Popen(  # noqa: S603
            [path, "run", "--config", str(config), "--adapter", "caddyfile"],
            env=at_home(self._folder.name),
            stderr=subprocess.DEVNULL,
        )
        while not listens(self.host, self.port):
            assert self._process.poll() is None, "Caddy does not start"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


def validated(folder: Path) -> str:
    """What Caddy says to the configuration, without starting anything."""
    config = folder / "Caddyfile"
    config.write_text(configuration(["127.0.0.1:9"], 8080))
    command = [need("caddy"), "validate", "--config", str(config), "--adapter", "caddyfile"]
    done = subprocess.run(  # noqa: S603
        command, check=False, env=at_home(str(folder)), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def at_home(folder: str) -> dict[str, str]:
    """Variables with which it writes nowhere but in this folder."""
    homes = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), folder)
    return {**os.environ, **homes}
