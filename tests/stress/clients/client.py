"""Creates a session, learns, predicts and reads an event, with the standard library alone."""

import json
import sys
from urllib.request import Request, urlopen

session = sys.argv[1]


def ask(method: str, path: str, body: object, status: int) -> str:
    """The text of an answer."""
    headers = {"content-type": "application/json"}
    request = Request(session + path, json.dumps(body).encode(), headers, method=method)  # noqa: S310
    with urlopen(request) as answer:  # noqa: S310
        assert answer.status == status, answer.status
        return str(answer.read().decode())


ask("PUT", "", {"model": "linear", "dim": 2}, 201)
for _ in range(3):
    ask("POST", "/samples", {"x": [1, 2], "y": 3}, 200)
sys.stdout.write(ask("POST", "/predict", {"x": [1, 2]}, 200) + "\n")
with urlopen(f"{session}/events") as events:  # noqa: S310
    sys.stdout.write(next(line for line in events if line.startswith(b"id: ")).decode())
