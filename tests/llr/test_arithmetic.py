"""A change of the results, bit by bit, takes a new number of the arithmetic.

`arithmetic.json` has the number and a digest of what each algorithm learns with each model. The
digests are of kernels compiled for any x86-64, without what only some processors have.
`python tests/llr/test_arithmetic.py` rewrites it, once the number is raised if results changed.
"""

import hashlib
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.root import ROOT
from support.samples_of import PAIRS, labels_of, options_of

import llr

pytestmark = pytest.mark.slow
GOLDEN = Path(__file__).with_name("arithmetic.json")
DIM, SAMPLES = 37, 60


def digest(model: str, algorithm: str) -> str:
    """A digest of all that a learner knows after some samples."""
    rng = np.random.default_rng(5)
    y, options = labels_of(model, rng, SAMPLES), options_of(model)
    samples: tuple[Any, ...] = (y,)
    if llr.MODELS[model].features:
        options["dim"] = DIM
        samples = (rng.normal(size=(SAMPLES, DIM)) / 3.0, y)
    learner = llr.Learner(model, algorithm=algorithm, eta0=0.01, **options)
    outcome = learner.learn(*samples)
    found = hashlib.sha256(f"{outcome.accepted}".encode())
    for name, array in sorted(learner.to_plain()["arrays"].items()):
        found.update(json.dumps([name, array]).encode())
    return found.hexdigest()[:16]


def results() -> dict[str, Any]:
    """The number, and the digest of each model with each algorithm."""
    pairs = {f"{model} {algorithm}": digest(model, algorithm) for model, algorithm in PAIRS}
    return {"arithmetic": llr.ARITHMETIC, "digests": pairs}


def judge(known: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """The pairs whose results changed although the number is the same."""
    if known["arithmetic"] != found["arithmetic"]:
        return []
    there = known["digests"].keys() & found["digests"].keys()
    return sorted(pair for pair in there if known["digests"][pair] != found["digests"][pair])


def test_results_change_with_the_number_of_the_arithmetic_only() -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the digests are of an x86-64")
    path = os.pathsep.join(map(str, (ROOT / "tests", ROOT)))
    generic = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "", "PYTHONPATH": path}
    command = [sys.executable, __file__, "--show"]
    done = subprocess.run(command, env=os.environ | generic, capture_output=True, check=True)  # noqa: S603
    known, found = json.loads(GOLDEN.read_text()), json.loads(done.stdout)
    assert judge(known, found) == [], "raise llr.ARITHMETIC, then rewrite arithmetic.json"
    assert known == found, "rewrite arithmetic.json: python tests/llr/test_arithmetic.py"


def test_a_changed_bit_needs_a_new_number() -> None:
    known = {"arithmetic": 1, "digests": {"a": "1", "b": "2"}}
    assert judge(known, {"arithmetic": 1, "digests": {"a": "1", "b": "3", "c": "4"}}) == ["b"]
    assert judge(known, {"arithmetic": 2, "digests": {"a": "1", "b": "3"}}) == []


def main() -> None:
    """Print the results, or rewrite the file."""
    if "--show" in sys.argv:
        print(json.dumps(results()))  # noqa: T201
        return
    if "NUMBA_CPU_NAME" not in os.environ:
        generic = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | generic)  # noqa: S606
    found = results()
    if GOLDEN.exists() and (changed := judge(json.loads(GOLDEN.read_text()), found)):
        sys.exit(f"raise llr.ARITHMETIC first: {', '.join(changed)} have other results")
    GOLDEN.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
