"""The SDK: `Client` and `AsyncClient`, on httpx alone.

>>> from llr_client import Client
>>> client = Client("http://127.0.0.1:8080")
>>> demo = client.session("demo")  # nothing is sent until it is used
>>> client.close()
"""

from llr_client import errors
from llr_client.answers import Answer, History, Listed, State
from llr_client.async_client import AsyncClient
from llr_client.async_session import AsyncSession
from llr_client.client import Client
from llr_client.errors import (
    Diverged,
    LLRError,
    Problem,
    SessionExists,
    SessionNotFound,
    Unreachable,
)
from llr_client.session import Session
from llr_client.version import __version__ as __version__

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
