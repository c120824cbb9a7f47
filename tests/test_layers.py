"""Who may import whom, and what the library must not touch."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FORBIDDEN = {
    "llr": {"service", "clients", "logging", "pydantic", "fastapi", "time", "datetime", "pickle"},
    "clients": {"service", "pickle"},
}
FILES = [
    (package, path) for package in FORBIDDEN for path in sorted((ROOT / package).rglob("*.py"))
]


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize(("package", "path"), FILES, ids=lambda v: str(getattr(v, "name", v)))
def test_a_layer_imports_only_what_it_may(package: str, path: Path) -> None:
    assert not imported(path) & FORBIDDEN[package]


def test_every_public_name_of_the_library_is_sorted_and_documented() -> None:
    import llr

    assert sorted(llr.__all__, key=lambda name: (not name.isupper(), name)) == llr.__all__
    for name in llr.__all__:
        value = getattr(llr, name)
        assert isinstance(value, dict) or value.__doc__, name
