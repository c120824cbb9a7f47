"""Whatever happens in whatever order: nothing is lost, doubled, told early or untrue."""

import os
import subprocess
import sys

import pytest
from llr_service.stores.store import CreateSession, DeleteSession, Written
from support.root import ROOT
from support.simulation.mutants import MUTANTS, Mutant, found
from support.simulation.plans import simulate
from support.simulation.recorder import Truth
from support.simulation.rules import broken

pytestmark = pytest.mark.slow

SEEDS, PARTS = 300, 6
RECORD = """
import hashlib
from support.simulation.plans import simulate
for seed in (3, 4, 5):
    world, _ = simulate(seed)
    print(hashlib.sha256(world.history.record()).hexdigest())
"""


@pytest.mark.parametrize("part", range(PARTS))
def test_every_seed_keeps_every_rule(part: int) -> None:
    runs = {seed: simulate(seed)[1] for seed in range(part, SEEDS, PARTS)}
    assert {seed: faults for seed, faults in runs.items() if faults} == {}


def test_a_seed_reproduces_a_run_to_the_byte_in_any_process() -> None:
    def recorded(salt: str) -> bytes:
        path = os.pathsep.join(map(str, (ROOT / "tests", ROOT)))
        env = os.environ | {"PYTHONHASHSEED": salt, "PYTHONPATH": path}
        command = [sys.executable, "-c", RECORD]
        return subprocess.run(command, env=env, capture_output=True, check=True).stdout  # noqa: S603

    first = recorded("1")
    assert len(first.splitlines()) == 3
    assert first == recorded("2")


@pytest.mark.parametrize("seed", range(6))
def test_a_crash_at_any_turn_breaks_no_rule(seed: int) -> None:
    crashes = 0
    for turn in range(20 + 7 * seed, 400, 97):
        world, faults = simulate(seed, crash_at=turn)
        assert faults == []
        crashes += world.crashes
    assert crashes


def test_rare_operations_happen() -> None:
    kinds, kills = set[str](), 0
    for seed in range(6, 300, 10):
        world, _ = simulate(seed)
        kills += world.kills
        assert world.checker.counts["answers"]
        kinds |= {call.kind for call in world.history.calls if call.ok}
        kinds |= {"next" for call in world.history.calls if call.ok and call.end}
        if kills and kinds >= {"labels", "next"}:
            return
    raise AssertionError(kinds)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.name)
def test_a_fault_that_is_put_in_is_found(mutant: Mutant) -> None:
    assert found(mutant, mutant.first, most=500)[0]


def test_a_history_that_lost_an_acknowledged_sample_is_noticed() -> None:
    for seed in range(50):
        world, faults = simulate(seed, "memory")
        assert faults == []
        lines = [line for line in world.truth.lines.values() if line.samples]
        if lines and any(call.ok and call.kind == "learn" for call in world.history.calls):
            lines[0].samples.pop()
            assert broken(world.history, world.truth)
            return
    raise AssertionError("no seed learnt anything")


def test_a_name_is_free_after_a_deletion_whose_answer_was_lost() -> None:
    first, again = CreateSession("a", b"{}", version=1), CreateSession("a", b"{}", version=2)
    known = {}
    for deleted in (True, False):
        truth = Truth()
        truth.stored([first], [Written(1)])
        truth.doubt([DeleteSession(1)] if deleted else [])
        truth.stored([again], [Written(2)])
        known[deleted] = [line.session for line in truth.lines.values() if not line.deleted]
        assert bool(truth.faults) is not deleted
    assert known == {True: [2], False: [2]}


@pytest.mark.parametrize("seed", [331, 614, 878])
def test_time_lost_answers_and_copied_numbers_break_no_rule(seed: int) -> None:
    assert simulate(seed)[1] == []
