"""A process that learns on command: `python worker.py PEER SAMPLES.npz`.

It runs in the peer's own environment and knows nothing of this project. Every line on its standard
input is a turn: a fresh learner learns all samples once. It answers a line of JSON: the seconds
that took, and by how many bytes the process has grown for it.
"""

import gc
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def turn(prepare: Any) -> dict[str, float]:
    """Let a fresh learner take all samples."""
    gc.collect()
    before = resident()
    run = prepare()
    gc.disable()
    begin = time.perf_counter()
    run()
    seconds = time.perf_counter() - begin
    gc.enable()
    return {"seconds": seconds, "grown": resident() - before}


def main() -> None:
    """Take turns until the standard input ends."""
    peer, path = sys.argv[1:]
    module, _, name = peer.partition(":")
    with np.load(path) as arrays:
        given = {key: arrays[key] for key in arrays.files}
    prepare = getattr(importlib.import_module(module), name)(**given)
    turn(prepare)  # the first one of a process pays for what is loaded once
    print(json.dumps({"ready": True}), flush=True)
    for _ in sys.stdin:
        print(json.dumps(turn(prepare)), flush=True)


if __name__ == "__main__":
    main()
