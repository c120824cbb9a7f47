"""llr.compat.flink: the operator by itself, and in a mini cluster of the real PyFlink."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.flink_job import DIM, sample, settings
from support.root import ROOT

import llr
from llr.compat.flink import KeyedLearner

PYTHON = ROOT / ".venv-flink" / "bin" / "python"
KEYS, SAMPLES = 1000, 20


class ValueState:
    """A state as Flink has it for the current key."""

    def __init__(self) -> None:
        self._value: bytes | None = None

    def value(self) -> bytes | None:
        return self._value

    def update(self, value: bytes) -> None:
        self._value = value


def expected(key: int, keys: int, samples: int) -> llr.Learner:
    """The learner of a key, from its samples in order."""
    chosen = {"algorithm": "auto"} | settings(key)
    learner = llr.Learner("linear", DIM, chosen["algorithm"])
    for number in range(key, keys * samples, keys):
        assert learner.learn(*sample(number))
    return learner


@pytest.mark.parametrize("key", [3, 4])
def test_an_element_is_predicted_then_learnt(key: int) -> None:
    operator = KeyedLearner(sample, of_key=settings, model="linear", dim=DIM)
    operator._state = ValueState()
    context: Any = SimpleNamespace(get_current_key=lambda: key)
    learner = expected(key, 10, 0)
    for t, number in enumerate(range(key, 50, 10), 1):
        x, y = sample(number)
        before = learner.predict(x)
        assert learner.learn(x, y)
        assert list(operator.process_element(number, context)) == [(key, t, before, True)]
    assert operator._state.value() == learner.pack(history=False)


REPLACED = """
import builtins, sys
class Printer:
    def print(self, *args): sys.stdout.write(args[0])
builtins.print = Printer().print
import llr
print(str(llr.Learner("gaussian").theta))
"""


def test_the_library_loads_where_print_was_replaced_as_flinks_workers_do() -> None:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", REPLACED], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "[0.]"


def run(folder: Path, kill: str) -> dict[int, str]:
    """Run the job; returns the state of each key."""
    folder.mkdir()
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    done = subprocess.run(  # noqa: S603
        [PYTHON, ROOT / "tests/support/flink_job.py", folder, str(KEYS), str(SAMPLES), kill],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = json.loads((folder / "states.json").read_text())
    assert len(rows) == KEYS  # each key's end came once
    assert all(learnt for _, learnt, _ in rows)
    return {key: state for key, _, state in rows}


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON.exists(), reason="PyFlink has its own environment: make test-flink")
@pytest.mark.skipif(shutil.which("java") is None, reason="Flink needs Java")
def test_a_killed_worker_is_restored_bit_by_bit(tmp_path: Path) -> None:
    killed = run(tmp_path / "job", "kill")
    assert (tmp_path / "job" / "killed").exists()
    for key in range(KEYS):
        assert killed[key] == expected(key, KEYS, SAMPLES).pack(history=False).hex()
