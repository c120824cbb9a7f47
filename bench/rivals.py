"""What the service is measured against, each as one uvicorn process with the service's settings.

python -m bench.rivals empty           a typed FastAPI endpoint that stores nothing
python -m bench.rivals bare            a Starlette endpoint that only reads its JSON
python -m bench.rivals one FILE        a transaction, synced, for each request
"""

import socket
import sqlite3
import sys
from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

PATH, COLUMNS = "/v1/sessions/{name}/samples", "/v1/sessions/{name}/columns"


class Sample(BaseModel):
    """What is sent."""

    x: list[float]
    y: float


class Columns(BaseModel):
    """Many at once."""

    x: list[list[float]]
    y: list[float]


class Loss(BaseModel):
    """A member of the answer."""

    total: float
    mean: float | None


class Regret(BaseModel):
    """A member of the answer."""

    ml: float | None
    best_fixed: float | None


class Answer(BaseModel):
    """As the service's, of the same size."""

    name: str
    t: int
    accepted: int
    duplicate: bool
    eta: float
    log_eta: float
    theta: list[float]
    loss: Loss
    regret: Regret


def empty() -> FastAPI:
    """As everybody writes it: the body a model, the answer a model, nothing in between."""
    app = FastAPI()

    @app.post(PATH)
    async def learn(name: str, sample: Sample) -> Answer:
        return Answer(
            name=name,
            t=12345,
            accepted=1,
            duplicate=False,
            eta=sample.y,
            log_eta=sample.y,
            theta=sample.x,
            loss=Loss(total=sample.y, mean=sample.y),
            regret=Regret(ml=sample.y, best_fixed=sample.y),
        )

    @app.post(COLUMNS)
    async def learn_columns(name: str, columns: Columns) -> dict[str, Any]:
        return {"name": name, "accepted": len(columns.y)}

    return app


def bare() -> Starlette:
    """The least there can be around a body that is read: no model, nothing kept."""

    async def learn(request: Request) -> Response:
        return JSONResponse(await request.json())

    return Starlette(routes=[Route(PATH, learn, methods=["POST"])])


def one_each(path: str) -> Starlette:
    """The least there can be around one transaction a request: raw body, one row, one answer."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("CREATE TABLE log (t INTEGER PRIMARY KEY, blob BLOB NOT NULL)")

    async def learn(request: Request) -> Response:
        body = await request.body()
        db.execute("INSERT INTO log (blob) VALUES (?)", (body,))  # a transaction of its own
        return Response(body, media_type="application/json")

    return Starlette(routes=[Route(PATH, learn, methods=["POST"])])


def serve(app: Any) -> None:
    """Listen on a free port, print it, and serve until a signal stops the process."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_keep_alive=75
    )
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listening])


RIVALS: dict[str, Callable[..., Any]] = {"empty": empty, "bare": bare, "one": one_each}

if __name__ == "__main__":
    serve(RIVALS[sys.argv[1]](*sys.argv[2:]))
