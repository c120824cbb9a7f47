"""The compiled inner loops, and what they are made of: numba, arrays, no Python objects."""

import builtins
import sys

_print = builtins.print
if _print.__module__ != "builtins":  # workers of PyFlink replace it; numba looks where it says
    setattr(sys.modules[_print.__module__], _print.__name__, _print)
