"""pytest hooks for tests whose system program is missing: one line each, one paragraph at the end.

A test asks for its program with `need` of `scripts/system_programs.py`. Such a test fails; it is
not skipped, because a run without it proves less than it seems to.
"""

from collections import defaultdict
from collections.abc import Generator
from typing import Any

import pytest

from scripts.system_programs import PROGRAMS, Missing

PROPERTY = "missing program"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Replace the traceback by a line, and note the program for the summary."""
    report = yield
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, Missing):
        report.longrepr = str(error)
        report.user_properties.append((PROPERTY, error.name))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the missing programs, and how many tests of which files need each."""
    files: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for outcome in ("failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            for name in names(report):
                files[name][report.nodeid.partition("::")[0]] += 1
    if files:
        terminalreporter.section("missing programs")
        terminalreporter.write_line(paragraph(files))


def names(report: Any) -> list[str]:
    """The programs that the test of a report lacks."""
    return [name for key, name in getattr(report, "user_properties", []) if key == PROPERTY]


def paragraph(files: dict[str, dict[str, int]]) -> str:
    """What is missing, which tests need it, and how to get it."""
    packages = {program.name: program.by_hand for program in PROGRAMS}
    missing = "; ".join(
        f"{name} (" + ", ".join(f"{count} in {file}" for file, count in counts.items()) + ")"
        for name, counts in files.items()
    )
    wanted = " ".join(packages.get(name, name) for name in files)
    return (
        f"Tests failed because system programs are missing: {missing}. All other tests ran. "
        f"To install them: apt-get install {wanted}, or make test as root or with sudo."
    )
