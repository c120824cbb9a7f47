"""Scripts in a process of their own."""

import os
import subprocess
import sys
from collections.abc import Sequence

from support.root import ROOT


def python(script: str, *arguments: object, under: Sequence[str] = ()) -> "subprocess.Popen[str]":
    """A process of its own that runs a script."""
    command = [*under, sys.executable, "-c", script, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)  # noqa: S603


def said(script: str, *arguments: object, under: Sequence[str] = ()) -> str:
    """What a script of its own process says, "failed" if it fails."""
    with python(script, *arguments, under=under) as process:
        answer = process.communicate()[0]
    return "failed" if process.returncode else answer
