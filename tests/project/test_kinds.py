"""Markers of tests: `make test-fast` leaves out what needs a system program."""

import subprocess

import pytest

from scripts.system_programs import Missing, need


def marks(request: pytest.FixtureRequest) -> set[str]:
    return {mark.name for mark in request.node.iter_markers()}


def starting() -> object:
    return subprocess.run


def asking() -> str:
    return need("no-such-program")


class Program:
    """What a test may be given to start."""

    def __init__(self) -> None:
        self.path = need("no-such-program")


def test_a_test_of_this_process_alone_is_a_unit(request: pytest.FixtureRequest) -> None:
    assert "unit" in marks(request)
    assert not {"service", "system"} & marks(request)


def test_a_test_that_can_start_a_process_is_of_the_service(request: pytest.FixtureRequest) -> None:
    assert starting()
    assert {"service"} == {"service", "system", "unit"} & marks(request)


def test_a_test_that_can_need_a_program_is_of_the_system(request: pytest.FixtureRequest) -> None:
    with pytest.raises(Missing):
        asking()
    assert {"service", "system"} <= marks(request)


@pytest.mark.parametrize("store", ["postgresql", "postgresql://here/llr"])
def test_a_test_on_postgres_is_of_the_system(store: str, request: pytest.FixtureRequest) -> None:
    assert {"service", "system"} <= marks(request)


@pytest.mark.parametrize("program", [Program])
def test_a_test_that_is_given_a_program_is_of_the_system(
    program: type[Program], request: pytest.FixtureRequest
) -> None:
    assert {"service", "system"} <= marks(request)
