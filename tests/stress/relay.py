"""A line between a replica and its database that can be cut, as a network is: nothing is said.

What was sent before or meanwhile arrives when the line is whole again, even if its sender has given
up by then.
"""

import socket
import threading
from contextlib import suppress
from pathlib import Path

NAME = ".s.PGSQL.5432"
"""What Postgres calls its socket."""


class Relay:
    """Listens in a folder for who wants to talk to the database in another.

    Args:
        folder: where it listens, made for it.
        database: the folder of the database's socket.
    """

    def __init__(self, folder: Path, database: Path) -> None:
        folder.mkdir(parents=True)
        self.folder, self._database = folder, str(database / NAME)
        self._whole = threading.Event()
        self._whole.set()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / NAME))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Let nothing through, in either direction."""
        self._whole.clear()

    def heal(self) -> None:
        """Let everything through, what waited first."""
        self._whole.set()

    def close(self) -> None:
        """Listen no more."""
        self.heal()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                replica, _ = self._listener.accept()
                threading.Thread(target=self._talk, args=(replica,), daemon=True).start()

    def _talk(self, replica: socket.socket) -> None:
        with replica, socket.socket(socket.AF_UNIX) as database, suppress(OSError):
            self._whole.wait()
            database.connect(self._database)
            back = threading.Thread(target=self._pass, args=(database, replica), daemon=True)
            back.start()
            self._pass(replica, database)
            back.join()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._whole.wait()
                target.sendall(data)
            self._whole.wait()
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)
