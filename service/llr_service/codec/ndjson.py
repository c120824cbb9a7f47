"""NDJSON bodies: cut into blocks of whole lines, which are decoded line by line."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from llr.classes import Classes
from llr_service.codec.errors import Explainer
from llr_service.codec.json import OPTIONAL, SampleSchema, schema_of
from llr_service.codec.reader import REFUSED, Text, decode_again
from llr_service.codec.samples import Samples
from llr_service.problems import Problem

BLANK = b" \t\r"


class Block(NamedTuple):
    """Whole lines, and the number of the first in its body, from 1."""

    lines: bytes
    first_line: int

    def pieces(self, size: int) -> Iterator["Block"]:
        """The same lines in blocks of about so many bytes, each of one line at least."""
        start, line = 0, self.first_line
        while start < len(self.lines):
            end = self.lines.find(b"\n", start + size - 1) + 1 or len(self.lines)
            yield Block(self.lines[start:end], line)
            line += self.lines.count(b"\n", start, end)
            start = end


class LineSplitter:
    r"""Cuts a body into blocks of whole lines, holding no more than one line and one chunk.

    Where the chunks are cut changes neither the lines nor which of them is refused.

    Args:
        max_block: bytes of a block, at most.
        max_line: bytes of a line with its line break, at most; no more than max_block.

    >>> splitter = LineSplitter(max_block=1024, max_line=1024)
    >>> list(splitter.feed(b'{"y": 1}\n{"y"'))
    [Block(lines=b'{"y": 1}\n', first_line=1)]
    >>> list(splitter.feed(b': 2}')), list(splitter.flush())
    ([], [Block(lines=b'{"y": 2}', first_line=2)])
    """

    def __init__(self, max_block: int = 1 << 20, max_line: int = 1 << 20) -> None:
        if not 0 < max_line <= max_block:
            raise ValueError("a block has room for one line at least")
        self._max_block = max_block
        self._max_line = max_line
        self._pending = bytearray()
        self._line = 1

    def feed(self, chunk: bytes) -> Iterator[Block]:
        """The blocks that this chunk completes; to be taken to the end before the next chunk."""
        whole = chunk.rfind(b"\n") + 1
        if whole:
            lines = bytes(self._pending) + chunk[:whole]
            self._pending.clear()
            yield from self._blocks(lines)
        self._pending += chunk[whole:]
        if len(self._pending) > self._max_line:
            raise self._too_long()

    def flush(self) -> Iterator[Block]:
        """The last line, if the body did not end with a line break."""
        if self._pending:
            yield Block(bytes(self._pending), self._line)
        self._pending.clear()

    def _blocks(self, lines: bytes) -> Iterator[Block]:
        start = 0
        while start < len(lines):
            end = self._end(lines, start)
            if end == start:
                raise self._too_long()
            block = Block(lines[start:end], self._line)
            self._line += block.lines.count(b"\n")
            start = end
            yield block

    def _end(self, lines: bytes, start: int) -> int:
        """Where the block from here ends: before a line that is too long or has no more room."""
        end = start
        while True:
            room = min(end + self._max_line, start + self._max_block)
            after = lines.rfind(b"\n", end, room) + 1
            if not after:
                return end
            end = after

    def _too_long(self) -> Problem:
        detail = f"longer than {self._max_line} bytes: send it as application/x-npy"
        place = {"line": self._line, "detail": detail}
        return Problem("too-large", f"line {self._line}: {detail}", [place])


def decode_ndjson(
    lines: bytes, first_line: int, features: bool, classes: Classes | None = None
) -> Samples:
    r"""The samples of a block of whole lines, the first of which has this number in its body.

    Blank lines count but hold no sample; a block of nothing else gives no samples.

    >>> decode_ndjson(b'{"y": 1}\n\n{"y": 2}\n', first_line=1, features=False).y
    array([1., 2.])
    """
    try:
        schema = schema_of(features, classes)
        return schema.build_many(_typed(lines, schema), lines, classes)
    except REFUSED:
        return _decode_again(lines, first_line, features, classes)


class BlockDecoder:
    r"""Decodes a block in steps, so that others are served in between.

    The steps parse pieces of the block; the samples are built at the end, from all of them, so that
    names are numbered once. A block that is refused is decoded again, piece by piece.

    Args:
        block: whole lines.
        features: whether the model has features.
        size: bytes of a piece, about.
        classes: the names that labels have; None if they are numbers.

    >>> decoder = BlockDecoder(Block(b'{"y": 1}\n{"y": 2}\n', 1), features=False, size=4)
    >>> sum(1 for step in decoder), decoder.samples.y
    (2, array([1., 2.]))
    """

    samples: Samples

    def __init__(
        self, block: Block, features: bool, size: int, classes: Classes | None = None
    ) -> None:
        self._block, self._size = block, size
        self._features, self._classes = features, classes

    def __iter__(self) -> Iterator[None]:
        """The ends of steps; `samples` is there in the end. Raises the Problem of a bad line."""
        block, values = self._block, list[Any]()
        schema = schema_of(self._features, self._classes)
        try:
            for piece in block.pieces(self._size):
                values += _typed(piece.lines, schema)
                if len(piece.lines) < len(block.lines):
                    yield
            self.samples = schema.build_many(values, block.lines, self._classes)
        except REFUSED:
            yield from self._again()

    def _again(self) -> Iterator[None]:
        parts = list[Samples]()
        for lines, first_line in self._block.pieces(self._size):
            parts.append(decode_ndjson(lines, first_line, self._features, self._classes))
            yield
        try:
            self.samples = Samples.joined(parts)
        except ValueError:  # not of one width: the whole block tells which line is wrong
            self.samples = decode_ndjson(*self._block, self._features, self._classes)


def _typed(lines: bytes, schema: SampleSchema) -> list[Any]:
    """The typed value of every line; an error of `REFUSED` if one does not fit."""
    line = schema.line
    values = line.decode_lines(lines)
    if len(values) == lines.count(b"\n") + (not lines.endswith(b"\n")):
        return values
    # there are blank lines, or values of several lines, which are refused
    return [line.decode(text) for text in lines.split(b"\n") if text]


def texts_in(lines: bytes, first_line: int) -> list[Text]:
    """The lines that are not blank, with their numbers."""
    numbered = enumerate(lines.split(b"\n"), first_line)
    return [Text(text, number) for number, line in numbered if (text := line.strip(BLANK))]


def _decode_again(
    lines: bytes, first_line: int, features: bool, classes: Classes | None = None
) -> Samples:
    schema, explainer = schema_of(features, classes), Explainer(features, OPTIONAL, classes)
    texts = texts_in(lines, first_line)
    if not texts:
        return Samples(np.empty((0, 0)) if features else None, np.empty(0))

    def build(values: list[Any]) -> Samples:
        return schema.build_many([schema.line.convert(value) for value in values], b"", classes)

    return decode_again(texts, build, explainer, explainer.sample)
