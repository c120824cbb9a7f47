from itertools import pairwise

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from llr_service.codec import Block, LineSplitter
from llr_service.problems import Problem


def fed(splitter: LineSplitter, chunks: list[bytes]) -> tuple[list[Block], Problem | None]:
    """The blocks of a body, and what ended it."""
    blocks: list[Block] = []
    try:
        for chunk in chunks:
            blocks.extend(splitter.feed(chunk))
        blocks.extend(splitter.flush())
    except Problem as problem:
        return blocks, problem
    return blocks, None


def cut(body: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[start:end] for start, end in pairwise(edges)]


BODIES = st.lists(st.integers(0, 12).map(lambda size: b"a" * size), max_size=12).map(b"\n".join)


@pytest.mark.slow
@seed(12)
@settings(max_examples=500, deadline=None)
@given(BODIES, st.lists(st.integers(0, 200), max_size=8), st.integers(1, 10), st.integers(0, 20))
def test_lines_and_refusals_do_not_depend_on_where_chunks_are_cut(
    body: bytes, places: list[int], max_line: int, more: int
) -> None:
    lines = body.splitlines(keepends=True)
    long = next((i for i, line in enumerate(lines) if len(line) > max_line), len(lines))
    blocks, problem = fed(LineSplitter(max_line + more, max_line), cut(body, places))
    assert b"".join(block.lines for block in blocks) == b"".join(lines[:long])
    for i, block in enumerate(blocks):
        assert 0 < len(block.lines) <= max_line + more
        assert block.first_line == 1 + b"".join(b.lines for b in blocks[:i]).count(b"\n")
    assert all(block.lines.endswith(b"\n") for block in blocks[:-1])
    if long == len(lines):
        assert problem is None
    else:
        assert problem is not None
        assert problem.kind.name == "too-large"
        assert problem.errors[0]["line"] == long + 1


def test_a_body_byte_by_byte_gives_every_line_when_it_is_whole() -> None:
    splitter = LineSplitter()
    answers = [list(splitter.feed(bytes([code]))) for code in b"a\n\nb"]
    assert answers == [[], [Block(b"a\n", 1)], [Block(b"\n", 2)], []]
    assert list(splitter.flush()) == [Block(b"b", 3)]
    assert list(splitter.flush()) == []


def test_a_line_without_end_is_refused_before_it_has_filled_the_memory() -> None:
    splitter = LineSplitter(max_block=100, max_line=100)
    blocks, problem = fed(splitter, [b"\n", *[b"[" * 10] * 11])
    assert blocks == [Block(b"\n", 1)]
    assert problem is not None
    assert problem.detail.startswith("line 2: longer than 100 bytes")


def test_as_many_lines_as_fit_are_one_block() -> None:
    assert list(LineSplitter(6, 3).feed(b"a\nb\nc\nd\n")) == [
        Block(b"a\nb\nc\n", 1),
        Block(b"d\n", 4),
    ]


@pytest.mark.parametrize(("max_block", "max_line"), [(1, 2), (0, 0), (10, 0)])
def test_a_block_must_have_room_for_a_line(max_block: int, max_line: int) -> None:
    with pytest.raises(ValueError, match="room"):
        LineSplitter(max_block, max_line)


@pytest.mark.parametrize(("size", "count"), [(1, 6), (4, 4), (5, 3), (8, 2), (100, 1)])
def test_pieces_of_a_block_are_its_lines_with_their_numbers(size: int, count: int) -> None:
    block = Block(b"a\nbbb\n\ncc\ndddddd\ne", first_line=7)
    pieces = [*block.pieces(size)]
    assert len(pieces) == count
    assert b"".join(piece.lines for piece in pieces) == block.lines
    line = block.first_line
    for piece in pieces:
        assert piece.first_line == line
        assert piece.lines.endswith(b"\n") or piece is pieces[-1]
        line += piece.lines.count(b"\n")
