"""Python client of the LLR service: `Client` and `AsyncClient`, with httpx as the only dependency.

>>> from llr_client import Client
>>> client = Client("http://127.0.0.1:8080")
>>> demo = client.session("demo")  # sends nothing
>>> client.close()

Public are the names of `__all__` and the modules `answers` (dataclasses), `errors` (the error
tree), `retries` (`Clock`) and `syntax` (names, keys and URLs).
"""

from llr_client import errors as errors
from llr_client._async_session import AsyncSession
from llr_client._client import AsyncClient, Client
from llr_client._session import Session
from llr_client._version import __version__ as __version__
from llr_client.answers import Answer, History, Listed, Prediction, State
from llr_client.errors import (
    Diverged,
    LLRError,
    Problem,
    SessionExists,
    SessionNotFound,
    Unreachable,
)

__all__ = [
    "Answer",
    "AsyncClient",
    "AsyncSession",
    "Client",
    "Diverged",
    "History",
    "LLRError",
    "Listed",
    "Prediction",
    "Problem",
    "Session",
    "SessionExists",
    "SessionNotFound",
    "State",
    "Unreachable",
]
