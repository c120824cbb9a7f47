"""The `llr` command, in this process or in one of its own."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from llr_cli.cli import app
from typer.testing import CliRunner, Result

NOWHERE = "http://127.0.0.1:1"


def run(*arguments: str, url: str = NOWHERE, **environment: str) -> Result:
    known = {"LLR_URL": url, "COLUMNS": "100", "FORCE_COLOR": ""} | environment
    return CliRunner().invoke(app, arguments, env=known)


def one_line(result: Result) -> str:
    """What was said on stderr: one line, and no traceback."""
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("llr: ")
    return line


@contextlib.contextmanager
def llr(*arguments: str, url: str, **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """The command as a process of its own, ended with the block."""
    command = [sys.executable, "-u", "-c", "from llr_cli.cli import main; main()", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    with subprocess.Popen([*command, "--url", url], **pipes) as process:  # noqa: S603
        try:
            yield process
        finally:
            process.kill()
