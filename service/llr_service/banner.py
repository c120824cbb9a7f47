"""What `llr serve` prints: a banner on a terminal, and a sentence for a taken port."""

import errno
import socket
from ipaddress import ip_address

import llr
from llr_service import guide
from llr_service.http.keys import read_key_file
from llr_service.settings import Settings, is_loopback


def banner(settings: Settings, host: str, port: int) -> str:
    """The addresses, the store and who may use the service, for people who just started it.

    >>> print(banner(Settings(store="memory:"), "127.0.0.1", 8080).split("access")[1].strip())
    no keys: this machine only
    """
    base = base_url(host, port)
    rows = [("dashboard", f"{base}/")]
    if settings.docs:
        rows.append(("API", f"{base}/docs"))
    if guide.find("") is not None:
        rows.append(("docs", f"{base}/guide/"))
    rows += [("store", settings.shown()["store"]), ("access", _access(settings))]
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name:<{width}}  {value}" for name, value in rows]
    return "\n".join([f"LLR {llr.__version__} is ready; Ctrl-C stops it.", "", *lines, "", ""])


def base_url(host: str, port: int) -> str:
    """A URL of the service that can be opened on this machine.

    >>> base_url("0.0.0.0", 80), base_url("::1", 8080)
    ('http://127.0.0.1:80', 'http://[::1]:8080')
    """
    try:
        address = ip_address(host)
    except ValueError:
        return f"http://{host}:{port}"
    if address.is_unspecified:
        host = "::1" if address.version == 6 else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _access(settings: Settings) -> str:
    if settings.has_keys:
        file = settings.api_keys_file
        count = len(settings.api_keys) + (len(read_key_file(file)) if file else 0)
        return "1 key" if count == 1 else f"{count} keys"
    if is_loopback(settings.host):
        return "no keys: this machine only"
    return "no keys: everyone on the network may do everything"


def why_not_listening(host: str, port: int) -> str | None:
    """A sentence if this address cannot be listened on; None if it can, or if the port is 0."""
    if port == 0:
        return None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found:
            with socket.socket(family, kind, protocol) as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind(address)
    except OSError as failure:
        return _sentence(failure, host, port)
    return None


def _sentence(failure: OSError, host: str, port: int) -> str:
    if failure.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is taken, perhaps by another `llr serve`: stop that one, or"
            " choose another port with --port"
        )
    if failure.errno == errno.EACCES:
        return f"port {port} needs privileges: choose one above 1023 with --port"
    if failure.errno == errno.EADDRNOTAVAIL or isinstance(failure, socket.gaierror):
        return f"this machine has no address {host!r}: choose another with --host"
    return f"cannot listen on port {port} of {host}: {failure.strerror or failure}"
