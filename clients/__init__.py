"""What people use: the SDK, exported here, and the command `llr`.

>>> from clients import Client
>>> client = Client("http://127.0.0.1:8080")
>>> demo = client.session("demo")  # nothing is sent until it is used
>>> client.close()
"""

from clients.sdk import errors
from clients.sdk.answers import Answer, History, Listed, State
from clients.sdk.async_client import AsyncClient
from clients.sdk.async_session import AsyncSession
from clients.sdk.client import Client
from clients.sdk.errors import (
    Diverged,
    LLRError,
    Problem,
    SessionExists,
    SessionNotFound,
    Unreachable,
)
from clients.sdk.session import Session

__all__ = [
    "Answer",
    "AsyncClient",
    "AsyncSession",
    "Client",
    "Diverged",
    "History",
    "LLRError",
    "Listed",
    "Problem",
    "Session",
    "SessionExists",
    "SessionNotFound",
    "State",
    "Unreachable",
    "errors",
]
