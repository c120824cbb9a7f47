"""What comes from a source: messages, each a sample or the reason why it is none."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import quote

from llr_cli.connection import BadData
from llr_cli.formats import Columns
from llr_cli.formats.ndjson import sample_of

VISIBLE = "!#$&'()*+,/:;=?@[]^_`{|}~-."
LONGEST = 128
SAMPLE = ("x", "y")
"""What a message is learnt from; what else it holds is for others."""


@dataclass(frozen=True, eq=False)
class Message:
    """One message.

    Attributes:
        topic: which stream it is of; chooses the session.
        producer: under which name it is numbered.
        place: where it is, for people.
        text: what it said, for those who look at what was left out.
        sample: what is to be learnt; None if it is none.
        wrong: why it is none.
        number: its number among its producer's, if it has one; else it is the next.
        lost: messages that are known to be gone before it.
        token: what the source needs to settle it.
    """

    topic: str
    producer: str
    place: str
    text: str
    sample: dict[str, Any] | None = None
    wrong: str = ""
    number: int | None = None
    lost: int = 0
    token: Any = None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def record_of(payload: bytes) -> dict[str, Any]:
    """A JSON object."""
    try:
        found = json.loads(payload, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadData(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadData('an object is needed, such as {"x": [1, 2], "y": 3}')
    return found


def read(record: Callable[[], dict[str, Any]], columns: Columns) -> dict[str, Any]:
    """What a message has of a sample: `sample`, or `wrong`, as `Message` takes them."""
    try:
        found = sample_of(record(), columns)
        return {"sample": {name: found[name] for name in SAMPLE if name in found}}
    except BadData as error:
        return {"wrong": str(error)}


def producer_name(*parts: str) -> str:
    """A name the service takes for a producer: visible ASCII, of bounded length, and telling.

    >>> producer_name("mqtt", "plant 1/temperature")
    'mqtt:plant%201/temperature'
    """
    name = quote(":".join(parts), safe=VISIBLE)
    if len(name) <= LONGEST:
        return name
    return f"{name[:100]}:{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def session_name(template: str, topic: str) -> str:
    """The session of a topic: what a name may not have becomes `_`.

    >>> session_name("sensor-{topic}", "plant/1"), session_name("all", "plant/1")
    ('sensor-plant_1', 'all')
    """
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", topic)
    return template.replace("{topic}", plain).lstrip("._-")[:LONGEST]
