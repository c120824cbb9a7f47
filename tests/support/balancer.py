"""nginx in front of replicas, with the configuration that is shipped."""

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from socket import create_connection, socket
from typing import Self

from scripts.system_programs import need
from support.root import ROOT

SHIPPED = ROOT / "deploy" / "nginx.conf"
SCRATCH = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


class Balancer:
    """A running nginx on a free port; `with` ends it.

    Args:
        places: where the replicas listen, as `host:port`.
        hashed: whether a session's requests go to one replica, as shipped.
        host: the address it listens on.
        under: a command that runs it, such as `nsenter`.
    """

    def __init__(
        self,
        places: Sequence[str],
        hashed: bool = True,
        host: str = "127.0.0.1",
        under: Sequence[str] = (),
    ) -> None:
        path = need("nginx")
        self._folder = tempfile.TemporaryDirectory(prefix="llr-nginx-")
        self.host, self.port = host, free()
        config = Path(self._folder.name) / "nginx.conf"
        config.write_text(self.configuration(places, hashed))
        directives = f"daemon off; master_process off; pid {self._folder.name}/pid;"
        command = [*under, path, "-p", self._folder.name, "-c", str(config), "-g", directives]
        self._process = subprocess.Popen([*command, "-e", "stderr"], stderr=subprocess.DEVNULL)  # noqa: S603
        while not listens(self.host, self.port):
            assert self._process.poll() is None, "nginx does not start"

    def configuration(self, places: Sequence[str], hashed: bool) -> str:
        """The shipped one, with these places."""
        folder, text = self._folder.name, SHIPPED.read_text()
        servers = re.findall(r" +server replica-\d:8080 (.*;)\n", text)
        lines = [f"        server {place} {servers[0]}\n" for place in places]
        text = re.sub(r"( +server replica-\d:8080 .*;\n)+", "".join(lines), text)
        text = text.replace("listen 8080;", f"listen {self.host}:{self.port};")
        text = text.replace(
            "hash $session consistent;", "" if not hashed else "hash $session consistent;"
        )
        scratch = "".join(f"    {name}_temp_path {folder}/{name};\n" for name in SCRATCH)
        return text.replace("http {\n", f"http {{\n    access_log off;\n{scratch}", 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


def free() -> int:
    """A port of loopback that nobody has."""
    with socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])


def listens(host: str, port: int) -> bool:
    """Whether somebody answers there."""
    try:
        create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
