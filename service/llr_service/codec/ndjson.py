"""NDJSON bodies: a sample per line, read a block of lines at a time."""

import numpy as np
from pydantic_core import from_json

from llr_service.codec.exact import Inspector
from llr_service.codec.json import samples_of
from llr_service.codec.quick import DOUBTS, DoubtError
from llr_service.codec.samples import Samples

NEWLINE, BRACE = b"\n{"
BLANK = b" \t\r"


def decode_ndjson(lines: bytes, first_line: int, features: bool) -> Samples:
    r"""The samples of a block of whole lines, the first of which has this number in its body.

    Blank lines count but hold no sample; a block of nothing else gives no samples.

    >>> decode_ndjson(b'{"y": 1}\n\n{"y": 2}\n', first_line=1, features=False).y
    array([1., 2.])
    """
    try:
        text, count, named = _as_list(lines)
        values = from_json(text, allow_inf_nan=False, cache_strings="none")
        if len(values) != count or named != (features and type(values[0]["x"]) is dict):
            raise DoubtError
        return samples_of(values, features, text)
    except DOUBTS:
        return _decode_exactly(lines, first_line, features)


def _as_list(lines: bytes) -> tuple[bytes, int, bool]:
    """The block as one JSON list, its number of lines, and whether each x is to be an object.

    Each line starts with its only {, or its only one beside that of x.

    If such a list of n lines parses to n objects, each of the n braces opens one of them: none is
    in a string or in another object, so no object reaches into the next line, and a line with
    anything beside its object would have given the list another member. Where each x is an object
    too there are 2n of them, and the one that starts a line, after a comma, is not that of an x.
    """
    block = lines.removesuffix(b"\n")
    codes = np.frombuffer(block, np.uint8)
    starts = np.flatnonzero(codes[:-1] == NEWLINE) + 1
    count = starts.size + 1
    braces = np.count_nonzero(codes == BRACE)
    if braces not in (count, 2 * count) or not (codes[starts] == BRACE).all():
        raise DoubtError
    return b"[" + block.replace(b"\n", b",") + b"]", count, bool(braces > count)


def _decode_exactly(lines: bytes, first_line: int, features: bool) -> Samples:
    inspector = Inspector(features)
    for number, line in enumerate(lines.split(b"\n"), first_line):
        if inspector.errors.full:
            break
        inspector.errors.line = number
        if text := line.strip(BLANK):
            inspector.read(text, inspector.sample)
    return inspector.samples()
