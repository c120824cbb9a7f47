"""A Postgres of our own: a cluster in a scratch folder, which goes when the tests end."""

import atexit
import os
import pwd
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from scripts.system_programs import need

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "50",
    "shared_buffers": "16MB",
    "max_wal_size": "256MB",
    "wal_level": "replica",
    "autovacuum": "off",
    "log_min_messages": "fatal",
}
"""Small, and as safe as any: fsync is on."""


class Cluster:
    """A cluster that runs, as a user who is not root, on a socket in its own folder.

    Args:
        under: a command that runs it, such as `nsenter`.
        of: a cluster whose standby it is to be.
        settings: of the server; with `listen_addresses` whoever reaches it is let in.
    """

    def __init__(
        self, under: Sequence[str] = (), of: "Cluster | None" = None, **settings: str
    ) -> None:
        self._under = under
        self.folder = Path(tempfile.mkdtemp(prefix="llr-postgres-"))
        self.data, self._settings = self.folder / "data", {**SETTINGS, **settings}
        self._process: subprocess.Popen[bytes] | None = None
        root = os.geteuid() == 0
        self._user = pwd.getpwnam("nobody" if root else pwd.getpwuid(os.getuid()).pw_name)
        os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self._made(of)
        if settings.get("listen_addresses"):
            with (self.data / "pg_hba.conf").open("a") as rules:
                rules.write("host all all all trust\n")
        self.start()

    def _made(self, of: "Cluster | None") -> None:
        command = [need("pg_basebackup" if of else "initdb"), "--pgdata", str(self.data)]
        command += ["--username=llr", "--no-sync"]
        if of:
            command += ["--host", str(of.folder), "--checkpoint=fast", "--write-recovery-conf"]
        else:
            command += ["--auth=trust", "--encoding=UTF8", "--no-locale"]
        self._call(command)

    @property
    def pid(self) -> int:
        """The number of its first process."""
        assert self._process
        return self._process.pid

    def url(self, database: str = "postgres", **options: str) -> str:
        """Its URL."""
        asked = {"host": str(self.folder), **options}
        return f"postgresql://llr@/{database}?" + "&".join(f"{k}={v}" for k, v in asked.items())

    def start(self, **settings: str) -> None:
        """Start it, perhaps with other settings, and wait until it answers."""
        given = {**self._settings, **settings, "unix_socket_directories": str(self.folder)}
        words = [word for name, value in given.items() for word in ("-c", f"{name}={value}")]
        leave = ["setpriv", f"--reuid={self._user.pw_uid}", f"--regid={self._user.pw_gid}"]
        leave += ["--clear-groups", "--pdeathsig=QUIT"]
        command = [*(leave if os.geteuid() == 0 else []), need("postgres"), "-D", str(self.data)]
        command = [*self._under, *command]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([*command, *words], stdout=log, stderr=log)  # noqa: S603
        asking = [need("pg_isready"), "--host", str(self.folder), "--timeout=1", "--quiet"]
        while subprocess.run(asking, check=False).returncode:  # noqa: S603
            assert self._process.poll() is None, (self.folder / "log").read_text()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT in order, SIGQUIT at once, SIGKILL as a power cut of the process."""
        if self._process:
            orphans = self._orphans() if how == signal.SIGKILL else []
            self._process.send_signal(how)
            self._process.wait()
            self._process = None
            for orphan in orphans:
                select.select([orphan], [], [])
                os.close(orphan)

    def _orphans(self) -> list[int]:
        """Handles of what outlives the first process for a moment, answers, and holds its memory.

        The first process is stopped before, so that it has no more of them until it is killed.
        """
        os.kill(self.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED)
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [os.pidfd_open(int(child)) for child in children.split()]

    def set(self, setting: str, value: str) -> None:
        """Change a setting and wait until it is so."""
        self.sql(f"ALTER SYSTEM SET {setting} = {value}")
        self.sql("SELECT pg_reload_conf()")
        while self.sql(f"SHOW {setting}") != value:
            pass

    def promote(self) -> None:
        """A standby becomes a primary."""
        self.sql("SELECT pg_promote()")

    def sql(self, statement: str) -> str:
        """What psql says to a statement."""
        done = subprocess.run(  # noqa: S603
            [*self._psql, "--command", statement], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    @contextmanager
    def session(self, statement: str) -> Iterator[None]:
        """While somebody has run a statement and goes no further."""
        pipe = subprocess.PIPE
        with subprocess.Popen(self._psql, stdin=pipe, stdout=pipe, text=True) as psql:  # noqa: S603
            assert psql.stdin
            assert psql.stdout
            psql.stdin.write(f"{statement}\n\\echo done\n")
            psql.stdin.flush()
            while psql.stdout.readline() != "done\n":
                pass
            yield
            psql.stdin.close()

    @property
    def _psql(self) -> list[str]:
        who = ["--host", str(self.folder), "--username=llr", "--dbname=postgres"]
        return [need("psql"), *who, "--no-psqlrc", "--tuples-only", "--no-align", "--quiet"]

    def remove(self) -> None:
        """Stop it and leave nothing."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _call(self, command: list[str]) -> None:
        subprocess.run(  # noqa: S603
            command,
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            user=self._user.pw_uid if os.geteuid() == 0 else None,
            group=self._user.pw_gid if os.geteuid() == 0 else None,
            extra_groups=[] if os.geteuid() == 0 else None,
        )


@cache
def cluster() -> Cluster:
    """The cluster that all tests share; nobody stops it."""
    made = Cluster()
    atexit.register(made.remove)
    return made


@cache
def mortal() -> Cluster:
    """A cluster that may be stopped; who stops it starts it again."""
    made = Cluster()
    atexit.register(made.remove)
    return made


_numbers = count(1)


def place() -> str:
    """The URL of a store that is empty, its tables not made yet."""
    return cluster().url(schema=f"s{os.getpid()}_{next(_numbers)}", migrate="true")


def tampered(url: str, statement: str) -> str:
    """What psql says to a statement about the tables of a place."""
    return cluster().sql(f"SET search_path = {schema_of(url)}; {statement}")


def schema_of(url: str) -> str:
    """Where in the database a place is."""
    return parse_qs(urlsplit(url).query)["schema"][0]
