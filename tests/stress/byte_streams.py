"""Cut, merged and mutated byte streams, and what another HTTP parser makes of them.

A stream is one to four requests on one connection. Bodies hold whole requests for a forbidden path.
h11, which shares no code with httptools, says which requests a stream has.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import h11
from support.http_talk import Recorder, Served

FORBIDDEN = "/forbidden-"
OFFERS = (
    b"",
    b"",
    b"connection: upgrade\r\nupgrade: h2c\r\n",
    b"connection: close\r\n",
    b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMA\r\n",
    b"connection: upgrade\r\nupgrade: websocket\r\n",
    b"expect: 100-continue\r\n",
    b"upgrade: h2c\r\n",
    b"trailer: x\r\n",
)
MUTATIONS = (
    *(b"\r\n", b"\n", b"\r", b" ", b"\0", b":", b"0\r\n\r\n", b"x", b"5", b"\xff", b""),
    b"transfer-encoding: chunked\r\n",
    b"content-length: 3\r\n",
    b"connection: upgrade\r\nupgrade: foo\r\n",
    b"CONNECT here:80 HTTP/1.1\r\n\r\n",
    b"GET http://here/absolute HTTP/1.1\r\n\r\n",
)


class Stream(NamedTuple):
    """Bytes for one connection; every path in them ends with the stream's own token."""

    token: str
    whole: bytes


class Answer(NamedTuple):
    """A final answer, and the request that its body says it is for; "" if it says none."""

    status: int
    request: str


def request(lot: random.Random, place: int, token: str) -> bytes:
    """A request for `/p<place>-<token>`, whose body holds requests for the forbidden path."""
    method = lot.choice((b"GET", b"POST", b"POST", b"PUT", b"DELETE"))
    inner = b"DELETE %b HTTP/1.1\r\nhost: here\r\n\r\n" % f"{FORBIDDEN}{token}".encode()
    body = b"" if method == b"GET" else lot.choice((b"", b"{}", inner, inner * 3, inner[:-9]))
    path = f"/p{place}-{token}".encode()
    lines = b"%b %b HTTP/1.1\r\nhost: here\r\n%b" % (method, path, lot.choice(OFFERS))
    if not body and lot.random() < 0.5:
        return lines + b"\r\n"
    if lot.random() < 0.5:
        return lines + b"content-length: %d\r\n\r\n" % len(body) + body
    cut = lot.randint(0, len(body))
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(c), c) for c in (body[:cut], body[cut:]) if c)
    trailer = lot.choice((b"", b"", b"x: y\r\n", b"connection: close\r\n"))
    return lines + b"transfer-encoding: chunked\r\n\r\n" + chunks + b"0\r\n" + trailer + b"\r\n"


def stream(lot: random.Random) -> Stream:
    """Requests, half of the time with something changed in them."""
    token = f"{lot.getrandbits(48):012x}"
    whole = b"".join(request(lot, place, token) for place in range(lot.randint(1, 4)))
    for _ in range(lot.choice((0, 0, 1, 2))):
        at = lot.randint(0, len(whole))
        gone = lot.choice((0, 0, 1, 1, 5, len(whole)))
        change = lot.choice(MUTATIONS).replace(b"/absolute", b"/absolute-" + token.encode())
        whole = whole[:at] + change + whole[at + gone :]
    return Stream(token, whole)


def cut(lot: random.Random, whole: bytes) -> Iterator[bytes]:
    """A stream in pieces."""
    places = sorted(lot.sample(range(len(whole) + 1), min(len(whole), lot.randint(0, 6))))
    for start, end in zip([0, *places], [*places, len(whole)], strict=True):
        if start < end:
            yield whole[start:end]


class Expected(NamedTuple):
    """The requests h11 sees in a stream; whether it read all of it without an objection."""

    seen: list[Served]
    clean: bool


def expected(whole: bytes) -> Expected:
    """What h11 makes of a stream."""
    parser, seen, clean = h11.Connection(h11.SERVER), list[Served](), True
    parser.receive_data(whole)
    body, head = b"", None
    try:
        while (event := parser.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            if isinstance(event, h11.Request):
                head, body = event, b""
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                path = head.target.decode("latin-1").removeprefix("http://here")
                seen.append((head.method.decode(), path, body))
                parser.send(h11.Response(status_code=204, headers=[]))
                parser.send(h11.EndOfMessage())
                if parser.our_state is not h11.DONE:
                    break
                parser.start_next_cycle()
    except h11.RemoteProtocolError:
        clean = False
    return Expected(seen, clean)


def told(served: Served) -> str:
    """What the answer to a request says: the request, in a word."""
    method, path, body = served
    return f"{method} {path} {hashlib.sha256(body).hexdigest()[:16]}"


class Echo(Recorder):
    """A recorder whose answers tell the request that they are for."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve a request."""
        mine = Recorder()
        await mine(scope, receive, self._drop)
        if not mine.served:
            self.disconnects += 1
            return
        [served] = mine.served
        self.served.append(served)
        words = self.answer(served).encode()
        headers = [(b"content-length", b"%d" % len(words))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": words})

    def answer(self, served: Served) -> str:
        """The body of an answer."""
        return told(served)

    async def _drop(self, _: Any) -> None:
        """The inner recorder's answer is not sent."""


def answers_of(said: bytes) -> list[Answer]:
    """The final answers in what a server said; an incomplete last one is left out."""
    found = list[Answer]()
    while said:
        head, blank, rest = said.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        if not blank or not lines[0].startswith(b"HTTP/1."):
            break
        status = int(lines[0].split()[1])
        fields = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(b":") for line in lines[1:])
        }
        if fields.get(b"transfer-encoding") == b"chunked":
            body, ended, said = rest.partition(b"0\r\n\r\n")
            if not ended:
                break
        else:
            length = 0 if status in (204, 304) else int(fields.get(b"content-length", 0))
            if status < 200:
                length = 0
            if len(rest) < length:
                break
            body, said = rest[:length], rest[length:]
        if status >= 200:
            found.append(Answer(status, body.decode("latin-1") if status == 200 else ""))
    return found


def judged(served: Sequence[Served], about: Expected) -> str:
    """What is wrong with the requests that were served; empty if nothing."""
    seen, clean = about
    paths = [path for _, path, _ in seen]
    for place, one in enumerate(served):
        if one[1].startswith(FORBIDDEN) and one[1] not in paths and clean:
            return f"a body was served as a request: {one}"
        if place < len(seen) and one != seen[place]:
            return f"served {one}, but h11 sees {seen[place]}"
    if clean and len(served) > len(seen):
        return f"served {served[len(seen) :]} more than h11 sees"
    return ""


def answered(served: Sequence[Served], answers: Sequence[Answer]) -> str:
    """What is wrong with the answers: one for each request, in order, at most one refusal, last."""
    given = [answer.request for answer in answers if answer.status == 200]
    if given != [told(one) for one in served]:
        return f"{[told(one) for one in served]} were served, answers: {answers}"
    if len(answers) > len(given) + 1:
        return f"more than one refusal: {answers}"
    if any(answer.status == 200 for answer in answers[len(given) :]):
        return f"an answer after a refusal: {answers}"
    return ""
