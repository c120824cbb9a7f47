import json

import numpy as np
import pytest
from llr_service.codec import Block, BlockDecoder, LineSplitter, decode_ndjson, pack_samples
from llr_service.problems import Problem


def refusal(lines: bytes, first_line: int = 1, features: bool = True) -> Problem:
    with pytest.raises(Problem) as caught:
        decode_ndjson(lines, first_line, features)
    return caught.value


@pytest.mark.parametrize("features", [True, False])
@pytest.mark.parametrize("lines", [b"", b"\n", b"\n \r\n\t\n"])
def test_a_block_of_blank_lines_has_no_samples(lines: bytes, features: bool) -> None:
    samples = decode_ndjson(lines, 1, features)
    assert samples.y.shape == (0,)
    assert (samples.X is None) is not features
    if isinstance(samples.X, np.ndarray):
        assert samples.X.shape == (0, 0)


@pytest.mark.parametrize(
    ("lines", "kind", "places"),
    [
        (b'{"x": [1], "y": 1}\n\n{"x": [1], "y": NaN}\n', "invalid", [(9, "/y")]),
        (b'{"x": [1], "y": 1}\n{"x": [1, 2], "y": 1}\n', "invalid", [(8, "/x")]),
        (b'{"x": [true], "y": 1}\n{"x": [1]}\n', "invalid", [(7, "/x/0"), (8, "/y")]),
        (b'{"x": {"a": null}, "y": 1}\n', "invalid", [(7, "/x/a")]),
        (b'{"x": [[1]], "y": [1]}\n', "invalid", [(7, "/x/0"), (7, "/y")]),
        (b'[{"x": [1], "y": 1}]\n', "invalid", [(7, "")]),
        (b'{"x": [1], "y": 1, "id": 5}\n', "invalid", [(7, "")]),
        (b'\n{"x": [1], "y": 1}}\n', "malformed", [(8, None)]),
        (b'{"x": [1], "y": 1}{"x": [1], "y": 1}\n', "malformed", [(7, None)]),
        (b'{"x": [1], "y": 1},\n', "malformed", [(7, None)]),
        (b'{"x": [1],\n"y": 1}\n', "malformed", [(7, None), (8, None)]),
        (b'{"x": [1], "y": 1}\r{"x": [1], "y": 1}\n', "malformed", [(7, None)]),
        (b'\xef\xbb\xbf{"x": [1], "y": 1}\n', "malformed", [(7, None)]),
        (b'not json\n{"x": [1]}\n', "malformed", [(7, None), (8, "/y")]),
        (b'{"x": [1]}\nnot json\n', "invalid", [(7, "/y"), (8, None)]),
    ],
)
def test_a_fault_is_named_by_line_and_the_first_decides_the_kind(
    lines: bytes, kind: str, places: list[tuple[int, str | None]]
) -> None:
    problem = refusal(lines, first_line=7)
    assert problem.kind.name == kind
    assert [(error["line"], error.get("pointer")) for error in problem.errors] == places
    assert problem.detail.startswith(f"line {places[0][0]}")


def test_ten_faults_are_named_and_no_more() -> None:
    errors = refusal(b'{"x": ["1"], "y": 1}\nnope\n' * 20).errors
    assert [error["line"] for error in errors] == list(range(1, 11))


def test_a_long_body_in_chunks_has_the_same_bits_as_its_numbers() -> None:
    table = np.random.default_rng(11).normal(size=(500, 4)) * 10.0 ** np.arange(-150, 250, 100)
    rows = table.tolist()
    body = "".join(json.dumps({"x": row[:-1], "y": row[-1]}) + "\n" for row in rows).encode()
    splitter, read = LineSplitter(max_block=4096, max_line=512), []
    for start in range(0, len(body), 1000):
        read += list(splitter.feed(body[start : start + 1000]))
    read += list(splitter.flush())
    blocks = [decode_ndjson(block.lines, block.first_line, features=True) for block in read]
    assert len(blocks) > 10
    matrices = [block.X for block in blocks if isinstance(block.X, np.ndarray)]
    assert np.concatenate(matrices).tobytes() == table[:, :-1].tobytes()
    assert np.concatenate([block.y for block in blocks]).tobytes() == table[:, -1].tobytes()


NUMBERS = b"".join(b'{"x": [%d, 0.5], "y": %d}\n' % (i, i) for i in range(20))
NAMES = b"".join(b'{"x": {"n%d": 1.5, "n%d": 2}, "y": %d}\n' % (i, i % 3, i) for i in range(3, 20))


@pytest.mark.parametrize(
    ("lines", "more"),
    [
        (NUMBERS, b""),
        (NAMES, b""),
        (NUMBERS, b"\r\n \n"),  # what follows is accepted at a second look, and then refused
        (NAMES, b"\r\n \n"),
        (NUMBERS, b'{"x": [-0, 1], "y": -0}\n'),
        (NAMES, b'{"x": {"n1": "twice", "n1": 2}, "y": -0}\n'),
        (NUMBERS, b'{"x": [1, 2, 3], "y": 1}\n'),
        (NAMES, b'{"x": {"n1": 1}, "y": NaN}\n'),
        (NUMBERS, b"nonsense\n"),
    ],
)
def test_a_block_decoded_in_steps_is_what_it_is_as_a_whole(lines: bytes, more: bytes) -> None:
    block = lines[: len(lines) // 2].rpartition(b"\n")[0] + b"\n" + more + lines
    try:
        expected: object = pack_samples(decode_ndjson(block, 7, features=True))
    except Problem as problem:
        expected = [error["line"] for error in problem.errors]
    decoder = BlockDecoder(Block(block, 7), features=True, size=64)
    try:
        steps = sum(1 for _ in decoder)
        found: object = pack_samples(decoder.samples)
        assert steps > 5
    except Problem as problem:
        found = [error["line"] for error in problem.errors]
    assert found == expected
