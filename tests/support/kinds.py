"""pytest hooks that mark each test with its kind, from where it lies and what it can reach.

- `stress`: in tests/stress, the short forms of `make torture`
- `browser`: uses the fixture `browser`
- `service`: its code, its fixtures or what they call can start a process
- `system`: likewise a system program of `scripts/system_programs.py`; it is of `service` too
- `contract`: holds every registered implementation, or the wire, to one contract
- `unit`: all others

`-m "not service and not browser and not stress"` needs no system program. `slow` is
given by hand, to tests that need more than half a second; `make test-fast` leaves them out too.
"""

import inspect
import subprocess
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from scripts.system_programs import need

CONTRACTS = ("test_conformance", "test_api", "test_openapi", "test_stores", "test_shared")
OURS = ("support", "stress")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test."""
    for item in items:
        for kind in kinds(item):
            item.add_marker(kind)


def kinds(item: pytest.Item) -> list[str]:
    """The markers of a test."""
    fixtures = getattr(item, "fixturenames", ())
    found = set[object]().union(*(reached(start) for start in starts(item)))
    stores = [value for value in parameters(item) if isinstance(value, str)]
    system = need in found or any(store.startswith("postgres") for store in stores)
    marks = {
        "stress": "stress" in item.path.parts,
        "browser": "browser" in fixtures,
        "service": system or subprocess in found,
    }
    named = [mark for mark, holds in marks.items() if holds]
    named = named or ["contract" if item.path.stem in CONTRACTS else "unit"]
    return [*named, "system"] if system else named


def parameters(item: pytest.Item) -> list[Any]:
    """The parameters of a test: stores are chosen by their names, programs by their classes."""
    return [*getattr(getattr(item, "callspec", None), "params", {}).values()]


def starts(item: pytest.Item) -> Iterator[FunctionType]:
    """The functions that run a test: its own, those of its fixtures and of its parameters."""
    info = getattr(item, "_fixtureinfo", None)
    found = (
        [definition.func for all_ in info.name2fixturedefs.values() for definition in all_]
        if info
        else []
    )
    test = getattr(item, "function", None)
    for function in [getattr(getattr(test, "hypothesis", None), "inner_test", test), *found]:
        if isinstance(unwrapped := inspect.unwrap(function), FunctionType):
            yield unwrapped
            for value in parameters(item):
                if is_ours(value, unwrapped):
                    yield from functions(value)


@cache
def reached(start: FunctionType) -> frozenset[object]:
    """`subprocess` and `need`, as far as a function can come to them through tests' code."""
    seen, left, found = set[int](), [start], set[object]()
    while left:
        function = left.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        for value in named(function.__code__, function.__globals__):
            if value is subprocess or value is need:
                found.add(value)
            elif is_ours(value, start):
                left += functions(value)
    return frozenset(found)


def is_ours(value: Any, start: FunctionType) -> bool:
    """Whether a value is made by tests' code: the helpers', or that of the test's own file."""
    module = str(getattr(value, "__module__", ""))
    return module.split(".", maxsplit=1)[0] in OURS or module == start.__module__


def named(code: CodeType, space: dict[str, Any]) -> Iterator[Any]:
    """The values of a module that some code names, and of the test modules it imports."""
    for name in code.co_names:
        value = space.get(name)
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] in OURS:
            yield from (getattr(value, other, None) for other in code.co_names)
        elif value is not None:
            yield value
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from named(constant, space)


def functions(value: Any) -> list[FunctionType]:
    """The functions that a value is made of: itself, or a class's own."""
    parts = [*vars(value).values()] if isinstance(value, type) else [value]
    plain = [
        inspect.unwrap(getattr(part, "fget", None) or getattr(part, "__func__", part))
        for part in parts
    ]
    return [part for part in plain if isinstance(part, FunctionType)]
