"""Where the program of the service is.

The command starts it as a program of its own and does not import it. It is not run as `python -m`,
because that would take a file `llr.py` of the working directory for the library.
"""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from llr_cli.exits import REFUSED, fail

PROGRAM = "llr-service"


def service_command(*arguments: str) -> list[str]:
    """The command line of the service, or of one of its tools if the first argument names one."""
    folders = [
        os.path.dirname(sys.executable),
        sysconfig.get_path("scripts"),
        str(Path(sys.argv[0]).absolute().parent),
    ]
    found = shutil.which(PROGRAM, path=os.pathsep.join(folders))
    if found is None:
        fail(REFUSED, f"{PROGRAM} is not installed beside llr: install llr again")
    return [found, *arguments]
