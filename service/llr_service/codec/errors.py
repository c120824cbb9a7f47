"""What is wrong with a body and where: collected by the readings, answered as one `Problem`."""

import re
from typing import Any

from llr_service.problems import Problem

MOST = 10
"""How many errors an answer names."""

SHOWN = 40
"""How many characters of a producer's own text an answer repeats."""

NAMES = {bool: "a boolean", str: "a string", list: "a list", dict: "an object", type(None): "null"}
PARSER_MESSAGE = re.compile(r"(.*?)(?: at line (\d+) column (\d+))?", re.DOTALL)
NOT_SAMPLES = {
    "recursion limit exceeded": "nested too deeply",
    "number out of range": "a number of thousands of digits",
}
"""Where the parser gives up on what may be JSON but is no sample, whatever follows."""


class ValidationErrors:
    """The first ten errors of a body; the very first decides between 400 and 422.

    Attributes:
        line: the line that is being read, None for a body that is not read by lines.
    """

    def __init__(self) -> None:
        self.line: int | None = None
        self._errors: list[dict[str, Any]] = []
        self._kind = "invalid"

    def __len__(self) -> int:
        return len(self._errors)

    @property
    def full(self) -> bool:
        """Whether there is no room for another fault."""
        return len(self._errors) >= MOST

    def add(self, pointer: str, detail: str) -> None:
        """Something that is JSON but not what is asked for, at a JSON pointer."""
        place = {} if self.line is None else {"line": self.line}
        if not self.full:
            self._errors.append({**place, "pointer": pointer, "detail": detail})

    def add_unreadable(self, message: str) -> None:
        """A text that the JSON parser refused with this message."""
        match = PARSER_MESSAGE.fullmatch(message)
        reason, line, column = match.groups() if match else (message, None, None)
        if not self._errors and reason not in NOT_SAMPLES:
            self._kind = "malformed"
        detail = NOT_SAMPLES.get(reason, f"not JSON: {reason}")
        number = self.line or int(line or 1)
        if not self.full:
            self._errors.append({"line": number, "detail": f"{detail}, at column {column or 0}"})

    def raise_if_any(self) -> None:
        """Raise the Problem, if anything was wrong."""
        if not self._errors:
            return
        first = self._errors[0]
        line = f"line {first['line']}" if "line" in first else ""
        where = " ".join(filter(None, (line, first.get("pointer")))) or "the body"
        raise Problem(self._kind, f"{where}: {first['detail']}", self._errors) from None


def name_of(value: Any) -> str:
    """What a JSON value is, for people."""
    return NAMES.get(type(value), "a number")


def shown(text: str) -> str:
    """A producer's own text, cut short and with its control characters escaped."""
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
