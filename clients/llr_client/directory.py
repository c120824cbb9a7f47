"""What a service is asked apart from any one session: which there are, and new ones."""

from collections.abc import Mapping
from typing import Any

from llr_client.answers import Listed, read
from llr_client.errors import SessionExists
from llr_client.handle import Handle
from llr_client.wire import Give, Talk, Wire, to_json

PAGE = 500


class Directory:
    """The sessions of a service. All methods are talks."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def open(self, handle: Handle, **config: Any) -> Talk[None]:
        """Create a session, or find it with the same config. Without a model nothing is sent."""
        given = {name: value for name, value in config.items() if value is not None}
        if not given:
            return
        if "model" not in given:
            raise TypeError(f"{', '.join(given)} without a model: to create a session, name one")
        yield from self._wire.ask(self._wire.request("PUT", handle.path, body=to_json(given)))

    def restore(self, handle: Handle, snapshot: Mapping[str, Any]) -> Talk[None]:
        """Go on from a snapshot under a new name.

        After a lost answer the name may be taken by this very restoration; then all is well.
        """
        request = self._wire.request("PUT", f"{handle.path}/snapshot", body=to_json(snapshot))
        try:
            yield from self._wire.ask(request)
        except SessionExists as taken:
            if not taken.retried:
                raise
            there = yield from handle.snapshot()
            if {**there, "name": ""} != {**snapshot, "name": ""}:
                raise

    def sessions(self) -> Talk[None]:
        """Give every session, page after page."""
        query: dict[str, Any] = {"limit": PAGE}
        while True:
            request = self._wire.request("GET", "/v1/sessions", query)
            page = (yield from self._wire.ask(request)).members("sessions", "next")
            for row in page["sessions"]:
                yield Give(read(Listed, row))
            if page["next"] is None:
                return
            query["cursor"] = page["next"]

    def get(self, path: str, *needed: str) -> Talk[dict[str, Any]]:
        """A document of the service as it is, which has at least these members."""
        return (yield from self._wire.ask(self._wire.request("GET", path))).members(*needed)
