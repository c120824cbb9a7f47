"""Which error an answer stands for."""

from collections.abc import Mapping
from typing import Any

import httpx

from llr_client.address import shown
from llr_client.errors import KINDS, LLRError, Problem, UnexpectedAnswer

PREFIX = "urn:llr:problem:"


def refusal(response: httpx.Response) -> LLRError:
    """The error that an answer other than 2xx stands for; its body has been read."""
    if not response.is_error:
        return UnexpectedAnswer(f"{shown(response.request.url)} answered {response.status_code}")
    members = _members(response)
    standard = {name: members.pop(name, "") for name in ("type", "title", "status", "detail")}
    name = str(standard["type"])
    return KINDS.get(name.removeprefix(PREFIX), Problem)(
        str(standard["detail"] or standard["title"] or f"HTTP status {response.status_code}"),
        type=name or "about:blank",
        title=str(standard["title"]),
        status=response.status_code,
        errors=_places(members.pop("errors", None)),
        request_id=response.headers.get("x-request-id"),
        retry_after=_seconds(response.headers.get("retry-after", "")),
        extra=members,
    )


def _members(response: httpx.Response) -> dict[str, Any]:
    """The problem document; empty for what a proxy may have answered instead."""
    try:
        found = response.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _places(errors: Any) -> list[Mapping[str, Any]]:
    """The places a problem names; what a proxy may call errors is none."""
    return [one for one in errors if isinstance(one, Mapping)] if isinstance(errors, list) else []


def _seconds(retry_after: str) -> float | None:
    """Seconds to wait; a date, which this service never sends, is not read."""
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None
