"""A host as one writes it in an afternoon: Flask, a model of river in memory, a route to learn.

    python flask_river.py gunicorn    one process, for the model lives in it, and four threads
    python flask_river.py flask       Flask's own server, a thread a request

Either says on which port of loopback it listens.
"""

import logging
import socket
import sys
from typing import Any

from flask import Flask, request
from gunicorn.app.base import BaseApplication
from river import linear_model, stats
from werkzeug.serving import make_server

app = Flask(__name__)
model: Any = linear_model.LinearRegression()
learnt = stats.Count()


@app.post("/v1/sessions/<name>/samples")
def learn(name: str) -> dict[str, Any]:
    """Learn from one sample, or from many; answers the last prediction."""
    body = request.get_json()
    samples = body if isinstance(body, list) else [body]
    predicted = 0.0
    for sample in samples:
        x = dict(enumerate(sample["x"]))
        predicted = model.predict_one(x)
        model.learn_one(x, sample["y"])
        learnt.update(1.0)
    return {"name": name, "t": learnt.get(), "predicted": predicted}


@app.get("/v1/sessions/<name>")
def state(name: str) -> dict[str, Any]:
    """How many samples were learnt."""
    return {"name": name, "t": learnt.get()}


class Host(BaseApplication):
    """gunicorn around the app, on a socket that is open already."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        super().__init__()

    def load_config(self) -> None:
        """One process, four threads."""
        self.cfg.set("bind", f"fd://{self._descriptor}")
        self.cfg.set("threads", 4)
        self.cfg.set("keepalive", 75)
        self.cfg.set("loglevel", "critical")

    def load(self) -> Flask:
        """The app."""
        return app


def main(by: str) -> None:
    """Listen, say where, and serve."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    listening.set_inheritable(True)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    if by == "gunicorn":
        Host(listening.fileno()).run()
    logging.getLogger("werkzeug").disabled = True
    make_server("127.0.0.1", 0, app, threaded=True, fd=listening.fileno()).serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
