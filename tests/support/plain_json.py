"""JSON by the standard library, as strict as the service: what its own readings are compared to."""

import json
import math
from typing import Any


def parsed(text: bytes) -> Any:
    """The value of a text; NaN and infinity are no values, and −0 stays what it is."""

    def refuse(constant: str) -> float:
        raise AssertionError(constant)

    def signed(digits: str) -> float | int:
        return -0.0 if digits == "-0" else int(digits)

    return json.loads(text.decode(), parse_constant=refuse, parse_int=signed)


def number(value: Any) -> float:
    """A number that is one, and finite."""
    assert type(value) in {int, float}
    assert math.isfinite(float(value))
    return float(value)
