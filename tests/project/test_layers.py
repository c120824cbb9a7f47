"""Which package may import which, what the library must not touch, and that tests stand alone."""

import ast
import sys
from pathlib import Path

import pytest
from support.root import ROOT

WEB = {"fastapi", "starlette", "uvicorn"}
CLIENTS = {"llr_client", "llr_cli", "llr_connect"}
FORBIDDEN = {
    "llr": {"llr_service", *CLIENTS, "logging", "pydantic", "time", "datetime", "pickle"} | WEB,
    "clients": {"llr_service", "pickle"},
    "clients/llr_client": {"llr", "llr_cli", "llr_connect", "typer", "rich", "pydantic"},
    "service": {*CLIENTS, "pickle"},
    "service/llr_service/codec": WEB,
    "service/llr_service/stores": WEB | {"llr", "llr_service.sessions", "llr_service.routes"},
    "service/llr_service/sessions": WEB
    | {"llr_service.routes", "llr_service.stores.sqlite", "llr_service.stores.memory"},
}
FILES = [
    (package, path) for package in FORBIDDEN for path in sorted((ROOT / package).rglob("*.py"))
]


def imported(path: Path) -> set[str]:
    """Every module a file imports, with the packages it lies in."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {".".join(name.split(".")[:n]) for name in names for n in range(1, 5)}


@pytest.mark.parametrize(("package", "path"), FILES, ids=lambda v: str(getattr(v, "name", v)))
def test_a_layer_imports_only_what_it_may(package: str, path: Path) -> None:
    assert not imported(path) & FORBIDDEN[package]


@pytest.mark.parametrize("path", sorted((ROOT / "llr").rglob("*.py")), ids=lambda path: path.name)
def test_the_library_needs_numpy_and_numba_only(path: Path) -> None:
    outside = {name for name in imported(path) if "." not in name} - sys.stdlib_module_names
    needed = {path.stem, f"py{path.stem}"} if path.parent.name == "compat" else set()
    assert outside <= {"llr", "numpy", "numba"} | needed


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_no_file_imports_a_test(path: Path) -> None:
    """What tests share is in tests/support, tests/stress and conftest files."""
    parts = {part for name in imported(path) for part in name.split(".")}
    assert not {part for part in parts if part.startswith("test_") or part == "conftest"}


def test_every_public_name_of_the_library_is_sorted_and_documented() -> None:
    import llr

    assert sorted(llr.__all__, key=lambda name: (not name.isupper(), name)) == llr.__all__
    for name in llr.__all__:
        value = getattr(llr, name)
        assert isinstance(value, dict) or value.__doc__, name
