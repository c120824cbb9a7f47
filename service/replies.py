"""Answering in plain ASGI, for what does not go through FastAPI."""

from typing import Any

from pydantic_core import to_json
from starlette.types import Send

from service.problems import MEDIA_TYPE, Problem


async def send_problem(problem: Problem, send: Send) -> None:
    """Answer with a problem."""
    headers = {"content-type": MEDIA_TYPE} | problem.headers
    body = to_json(problem.body(), inf_nan_mode="null")
    await send_body(send, problem.kind.status, body, headers)


async def send_body(send: Send, status: int, body: bytes, headers: dict[str, Any]) -> None:
    """Answer with a whole body."""
    raw = [(name.lower().encode(), str(value).encode("latin-1")) for name, value in headers.items()]
    raw.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
