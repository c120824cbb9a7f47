"""Clients that do by lot whatever clients do, and know what they were told."""

import io
import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from support.checker import Seen

from .history import Call, History
from .recorder import SCALE
from .wire import Request

NAMES = ("a", "b")
COPIES = ("f", "g")
JSON, NDJSON, NPY = "application/json", "application/x-ndjson", "application/x-npy"
SECONDS = 20.0
"""For how long x waits for its label."""
EXPIRED = 0.5
"""The label of what has expired, in some sessions."""
ETA = 0.25
MANY = 60
"""Samples of a batch that is larger than a session's state, so that a snapshot is stored."""


def label_of(number: int) -> float:
    """The label of a sample."""
    return (number * 37 % 101) / 101


def row_of(number: int) -> list[float]:
    """The features of a sample."""
    return [number * SCALE, 1.0]


def encoded(numbers: list[int], form: str) -> tuple[bytes, str]:
    """The body that brings samples, and its kind."""
    samples = [{"x": row_of(one), "y": label_of(one)} for one in numbers]
    if form == "npy":
        stream = io.BytesIO()
        np.save(stream, np.array([[*row_of(one), label_of(one)] for one in numbers]))
        return stream.getvalue(), NPY
    if form == "lines":
        return "".join(json.dumps(one) + "\n" for one in samples).encode(), NDJSON
    if form == "columns":
        columns = {key: [one[key] for one in samples] for key in ("x", "y")}
        return json.dumps(columns).encode(), JSON
    return json.dumps(samples[0] if len(samples) == 1 else samples).encode(), JSON


class Numbers:
    """Gives numbers to samples, ids, shadows and sessions: none twice."""

    def __init__(self) -> None:
        self._last = 0
        self._known: dict[tuple[Any, ...], int] = {}

    def new(self) -> int:
        """A number that nothing has."""
        self._last += 1
        return self._last

    def of(self, *what: Any) -> int:
        """The number of something, the same whenever it is asked for."""
        if what not in self._known:
            self._known[what] = self.new()
        return self._known[what]


class Place:
    """Where a producer is in a session: which of its samples were acknowledged."""

    def __init__(self) -> None:
        self.epoch, self.next = 0, 0


Sent = tuple[Request, Call]
Recipe = Callable[[], Sent]
"""Makes a request: the same one each time."""


class Client:
    """One client: it has at most one request at a time, and sends again what was not answered.

    Attributes:
        left: how many requests it will still send.
        request: the one that is being served, None if none is.
    """

    def __init__(
        self,
        number: int,
        lot: random.Random,
        numbers: Numbers,
        history: History,
        left: int,
        names: tuple[str, ...] = NAMES,
    ) -> None:
        self.producer, self.left = f"p{number}", left
        self.lot, self.numbers, self.history = lot, numbers, history
        self.names = names
        self.first = [*names] if number == 0 else []
        self.places = dict[str, Place]()
        self.ids = dict[str, list[int]]()
        self.shadows = dict[str, list[str]]()
        self.snapshot: bytes | None = None
        self.request: Request | None = None
        self.call: Call | None = None
        self.seen: Seen | None = None
        self.known = set[int]()
        self._recipe: Recipe | None = None
        self._again: Recipe | None = None

    def draw(self, operations: Mapping[str, float]) -> Recipe | None:
        """What to send next; None if there is nothing this time."""
        if self._again is not None and self.lot.random() < 0.8:
            recipe, self._again = self._again, None
            return recipe
        if self.first:
            return create(self, self.first.pop())
        kind = self.lot.choices([*operations], [*operations.values()])[0]
        name = self.lot.choice(self.names if self.lot.random() < 0.92 else COPIES)
        return OPERATIONS[kind](self, name)

    def send(self, recipe: Recipe, step: int, now: float) -> Request:
        """Send a request."""
        self._recipe = recipe
        self.request, self.call = recipe()
        self.call.asked, self.call.at = step, [now]
        self.history.calls.append(self.call)
        return self.request

    def heard(self, step: int, now: float, durable: int) -> None:
        """The request is over, answered or not."""
        request, call = self.request, self.call
        assert request is not None
        assert call is not None
        self.request = self.call = None
        call.told_by, call.durable = step, durable
        call.at.append(now)
        if call.kind == "events":
            call.events = events_of(request.body)
        elif request.whole and not request.cut:
            call.status = request.status
            call.answer = json.loads(request.body) if request.body else {}
        self._go_on(call)

    def place(self, name: str) -> Place:
        """Where this client is in a session."""
        return self.places.setdefault(name, Place())

    def _go_on(self, call: Call) -> None:
        """What follows from an answer, or from none."""
        if call.producer is not None:
            place = self.place(f"{call.name} sparse" if call.end else call.name)
            if call.ok:
                end = call.end or int(call.about) + len(call.samples)
                place.next = max(place.next, end)
            elif call.problem == "sequence-gap":
                if call.answer["expected"] < place.next:
                    place.epoch += 1  # another session has the name; else the rules will tell
                place.next = call.answer["expected"]
        if call.kind == "snapshot" and call.ok:
            self.snapshot = json.dumps(call.answer).encode()
        unsure = call.status is None or call.status in (408, 503, 507)
        if unsure and call.kind in RETRIED and (call.producer or not call.samples):
            self._again = self._recipe


RETRIED = {"create", "learn", "predict", "label", "promote", "add", "remove"}


def create(client: Client, name: str) -> Recipe | None:
    """A session, told from the others of its name by its `label_seconds`."""
    if name in COPIES:
        return None
    tag = client.numbers.new()
    config = {
        "model": "linear",
        "dim": 2,
        "algorithm": "sg",
        "eta0": ETA,
        "regret": "off",
        "drift": False,
        "retain": True,
        "label_seconds": SECONDS + tag * 1e-6,
        "expired_label": EXPIRED if client.lot.random() < 0.3 else None,
    }
    body = json.dumps(config).encode()
    return lambda: (
        Request("PUT", f"/v1/sessions/{name}", body, JSON),
        Call("create", name, 0, about=f"{config['label_seconds']!r}"),
    )


def learn(client: Client, name: str) -> Recipe | None:
    """Samples of a producer: the next ones, with some that were acknowledged before."""
    lot, place = client.lot, client.place(name)
    start = max(0, place.next - lot.choice((0, 0, 0, 1, 2)))
    n = MANY if lot.random() < 0.04 else lot.randrange(1, 5)
    epoch, form = place.epoch, lot.choice(("json", "columns", "lines", "npy"))
    who, seqs = client.producer, range(start, start + n)
    samples = [client.numbers.of(who, name, epoch, seq) for seq in seqs]
    body, kind = encoded(samples, form)
    target = f"/v1/sessions/{name}/samples?producer={who}&seq={start}"
    places = [lot.randrange(len(body)) for _ in range(lot.choice((0, 0, 1, 3)))]

    def recipe() -> Sent:
        request = Request("POST", target, body, kind)
        request.split(places)
        streamed = kind == NDJSON
        return request, Call("learn", name, 0, [*samples], f"{start}", who, streamed=streamed)

    return recipe


def unnumbered(client: Client, name: str) -> Recipe | None:
    """Samples without numbers, sometimes only if the session is where it was last seen."""
    samples = [client.numbers.new() for _ in range(client.lot.randrange(1, 4))]
    body, kind = encoded(samples, client.lot.choice(("json", "npy", "lines")))
    seen = [call.answer["t"] for call in client.history.of(name) if call.ok and "t" in call.answer]
    only = client.lot.random() < 0.3 and bool(seen)
    headers = [(b"if-match", b'"%d"' % seen[-1])] if only else []
    return lambda: (
        Request("POST", f"/v1/sessions/{name}/samples", body, kind, headers),
        Call("learn", name, 0, [*samples], "if-match" if only else "", streamed=kind == NDJSON),
    )


def predict(client: Client, name: str) -> Recipe | None:
    """A prediction whose x is kept under an id."""
    number = client.numbers.new()
    client.ids.setdefault(name, []).append(number)
    body = json.dumps({"x": row_of(number), "id": f"i{number}"}).encode()
    return lambda: (
        Request("POST", f"/v1/sessions/{name}/predict", body, JSON),
        Call("predict", name, 0, about=f"i{number}"),
    )


def label(client: Client, name: str) -> Recipe | None:
    """A label for an id, sometimes for one that had its label."""
    if not client.ids.get(name):
        return predict(client, name)
    number = client.lot.choice(client.ids[name][-3:])
    body = json.dumps({"id": f"i{number}", "y": label_of(number)}).encode()
    return lambda: (
        Request("POST", f"/v1/sessions/{name}/labels", body, JSON),
        Call("label", name, 0, [number], f"i{number}"),
    )


def add(client: Client, name: str) -> Recipe | None:
    """A shadow."""
    shadow = f"w{client.numbers.new()}"
    client.shadows.setdefault(name, []).append(shadow)
    body = json.dumps({"algorithm": "sg", "eta0": ETA / 2}).encode()
    return lambda: (
        Request("PUT", f"/v1/sessions/{name}/shadows/{shadow}", body, JSON),
        Call("add", name, 0, about=shadow),
    )


def promote(client: Client, name: str) -> Recipe | None:
    """A shadow becomes the champion, or the first champion does again."""
    if not client.shadows.get(name):
        return add(client, name)
    shadow = client.lot.choice([*client.shadows[name][-2:], "sg"])
    body = json.dumps({"name": shadow}).encode()
    return lambda: (
        Request("POST", f"/v1/sessions/{name}/promote", body, JSON),
        Call("promote", name, 0, about=shadow),
    )


def remove(client: Client, name: str) -> Recipe | None:
    """A shadow goes; never the first champion."""
    if not client.shadows.get(name):
        return None
    shadow = client.lot.choice(client.shadows[name])
    return lambda: (
        Request("DELETE", f"/v1/sessions/{name}/shadows/{shadow}", b"", JSON),
        Call("remove", name, 0, about=shadow),
    )


def get(client: Client, name: str) -> Recipe | None:
    """A look at a session, sometimes at where a producer is."""
    who = client.lot.choice(("", client.producer))
    return look(name, who)


def look(name: str, producer: str = "") -> Recipe:
    """A look at a session and one of its producers."""
    query = f"?producer={producer}" if producer else ""
    return lambda: (
        Request("GET", f"/v1/sessions/{name}{query}", b"", JSON),
        Call("get", name, 0, about=producer),
    )


def snapshot(client: Client, name: str) -> Recipe | None:
    """A snapshot."""
    return lambda: (
        Request("GET", f"/v1/sessions/{name}/snapshot", b"", JSON),
        Call("snapshot", name, 0),
    )


def restore(client: Client, name: str) -> Recipe | None:
    """A session goes on from a snapshot, under another name."""
    body, into = client.snapshot, client.lot.choice(COPIES)
    if body is None:
        return snapshot(client, name)
    return lambda: (
        Request("PUT", f"/v1/sessions/{into}/snapshot", body, JSON),
        Call("restore", into, 0),
    )


def fork(client: Client, name: str) -> Recipe | None:
    """A copy of a session."""
    into = client.lot.choice([one for one in COPIES if one != name])
    body = json.dumps({"name": into}).encode()
    return lambda: (
        Request("POST", f"/v1/sessions/{name}/fork", body, JSON),
        Call("fork", into, 0, about=name),
    )


def what_if(client: Client, name: str) -> Recipe | None:
    """A session learns the samples of another one from the beginning."""
    into = client.lot.choice([one for one in COPIES if one != name])
    body = json.dumps({"name": into, "relearn": True}).encode()
    return lambda: (
        Request("POST", f"/v1/sessions/{name}/fork", body, JSON),
        Call("fork", into, 0, about=name),
    )


def delete(client: Client, name: str) -> Recipe | None:
    """A session is deleted."""
    return lambda: (
        Request("DELETE", f"/v1/sessions/{name}", b"", JSON),
        Call("delete", name, 0),
    )


def events(client: Client, name: str) -> Recipe | None:
    """A session is watched."""
    return lambda: (
        Request("GET", f"/v1/sessions/{name}/events", b"", JSON),
        Call("events", name, 0),
    )


def events_of(body: bytes) -> list[Any]:
    """The states that a stream of events told."""
    found = []
    for event in body.decode().split("\n\n")[:-1]:
        lines = [line for line in event.split("\n") if line.startswith("data: ")]
        found += [json.loads(line.removeprefix("data: ")) for line in lines]
    return found


OPERATIONS: dict[str, Callable[[Client, str], Recipe | None]] = {
    "create": create,
    "learn": learn,
    "unnumbered": unnumbered,
    "predict": predict,
    "label": label,
    "add": add,
    "promote": promote,
    "remove": remove,
    "get": get,
    "snapshot": snapshot,
    "restore": restore,
    "fork": fork,
    "what_if": what_if,
    "delete": delete,
    "events": events,
}
