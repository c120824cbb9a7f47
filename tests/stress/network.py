"""Hosts as network namespaces on one bridge, and cuts between any two of them.

It is made inside a private network (`private.py`), where nobody needs rights on the machine. A cut
says nothing to anybody: who is cut off sends to a hardware address that nobody has, so that its
packets are lost. What goes to others, or comes from the other side, is not touched.
"""

import subprocess
from collections.abc import Sequence

from scripts.system_programs import need

LAN = "10.99.0"
NOBODY = "02:00:00:00:ff:ff"
"""A hardware address that no host has."""
BORN = ("unshare", "--net", "sh", "-c", "echo born && exec sleep infinity")


class Host:
    """A network namespace with an address of its own. It is there as long as the network.

    Attributes:
        address: where others find it.
        hardware: the address of its one interface.
        under: the command that runs another on this host.
    """

    def __init__(self, number: int) -> None:
        self.address, self.hardware = f"{LAN}.{number}", f"02:00:00:00:00:{number:02x}"
        self._wire = f"wire{number}"
        self._process = subprocess.Popen(BORN, stdout=subprocess.PIPE)  # noqa: S603
        assert self._process.stdout
        assert self._process.stdout.readline() == b"born\n", "no namespace"
        self._process.stdout.close()
        self.under = ("nsenter", f"--target={self._process.pid}", "--net")
        self._plug()

    def ip(self, words: str) -> None:
        """Run `ip` on this host."""
        _run([*self.under, need("ip"), *words.split()])

    def set(self, name: str, value: int) -> None:
        """Set a variable of its kernel's network, such as `net.ipv4.tcp_retries2`."""
        write = f"echo {value} > /proc/sys/{name.replace('.', '/')}"
        _run([*self.under, "sh", "-c", write])

    def loses(self, other: "Host") -> None:
        """From now on, lose what it sends to another host."""
        self._send(other.address, NOBODY)

    def finds(self, other: "Host") -> None:
        """From now on, let what it sends to another host arrive."""
        self._send(other.address, other.hardware)

    def _send(self, address: str, hardware: str) -> None:
        self.ip(f"neigh replace {address} lladdr {hardware} nud permanent dev eth0")

    def _plug(self) -> None:
        wire, here = self._wire, self._process.pid
        ip(f"link add {wire} type veth peer name eth0 address {self.hardware} netns {here}")
        ip(f"link set {wire} master lan up")
        self.ip("link set lo up")
        self.ip(f"addr add {self.address}/24 dev eth0")
        self.ip("link set eth0 up")


class Network:
    """A bridge that hosts are plugged into; who makes it is on it too."""

    def __init__(self) -> None:
        self._hosts = 1
        ip("link set lo up")
        ip("link add lan type bridge")
        ip(f"addr add {LAN}.1/24 dev lan")
        ip("link set lan up")

    def host(self) -> Host:
        """Another host."""
        self._hosts += 1
        return Host(self._hosts)


class Cut:
    """Two hosts that do not hear each other, or one that does not hear the other."""

    def __init__(self, one: Host, other: Host, back: bool = True) -> None:
        self._ways = [(one, other), *([(other, one)] if back else [])]

    def __enter__(self) -> None:
        for source, target in self._ways:
            source.loses(target)

    def __exit__(self, *_: object) -> None:
        for source, target in self._ways:
            source.finds(target)


def ip(words: str) -> None:
    """Run `ip` where the bridge is."""
    _run([need("ip"), *words.split()])


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True)  # noqa: S603
