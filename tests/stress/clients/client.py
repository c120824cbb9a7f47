"""Creates a session, learns, predicts and reads an event, with the standard library alone."""

import json
import sys
from urllib.request import Request, urlopen


def ask(url: str, method: str, body: object, status: int) -> str:
    """The text of an answer."""
    headers = {"content-type": "application/json"}
    request = Request(url, json.dumps(body).encode(), headers, method=method)  # noqa: S310
    with urlopen(request) as answer:  # noqa: S310
        assert answer.status == status, answer.status
        return str(answer.read().decode())


def main(session: str) -> None:
    """All four, on the session of this address."""
    ask(session, "PUT", {"model": "linear", "dim": 2}, 201)
    for _ in range(3):
        ask(f"{session}/samples", "POST", {"x": [1, 2], "y": 3}, 200)
    sys.stdout.write(ask(f"{session}/predict", "POST", {"x": [1, 2]}, 200))
    with urlopen(f"{session}/events") as events:  # noqa: S310
        sys.stdout.write(next(line for line in events if line.startswith(b"id: ")).decode())


if __name__ == "__main__":
    main(sys.argv[1])
