"""A Flink job with many keyed learners, in the environment of PyFlink; prints its figures as JSON.

python bench/peers/flink_keys.py FOLDER KEYS SAMPLES DIM ALGORITHM SECOND_ORDER
"""

import json
import os
import socket
import sys
import time
import urllib.request
from typing import Any

import numpy as np
from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

from llr.compat.flink import KeyedLearner

ROWS = 4096


def main(
    folder: str, keys: int, samples: int, dim: int, algorithm: str, second_order: bool
) -> dict[str, Any]:
    """Learn so many samples over so many keys; elements a second, checkpoints, bytes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(ROWS, dim)).tolist(), rng.normal(size=ROWS).tolist()
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    os.environ["_python_worker_execution_mode"] = "process"  # noqa: SIM112
    config = Configuration()
    for name, value in {
        "execution.checkpointing.interval": "5s",
        "execution.checkpointing.dir": f"file://{folder}/checkpoints",
        "python.executable": sys.executable,
        "python.client.executable": sys.executable,
        "rest.port": str(port),
        "jobmanager.memory.process.size": "2g",
    }.items():
        config.set_string(name, value)
    env = StreamExecutionEnvironment.get_execution_environment(config)
    env.set_parallelism(1)
    numbers = env.from_source(
        NumberSequenceSource(0, samples - 1), WatermarkStrategy.no_watermarks(), "numbers"
    )
    options = {} if second_order else {"second_order": False} if algorithm == "auto" else {}
    learner = KeyedLearner(
        lambda number: (X[number % ROWS], y[number % ROWS]),
        model="linear",
        dim=dim,
        algorithm=algorithm,
        options=options,
    )
    answers = numbers.key_by(lambda number: number % keys, Types.LONG()).process(
        learner, Types.PICKLED_BYTE_ARRAY()
    )
    answers.map(lambda answer: answer[1], Types.INT()).filter(lambda t: t < 0).print()
    began = time.monotonic()
    job = env.execute_async("keys")
    checkpoints = watch(port, str(job.get_job_id()), job)
    seconds = time.monotonic() - began
    return {"samples/s": samples / seconds, "seconds": seconds} | checkpoints


def watch(port: int, job: str, client: Any) -> dict[str, Any]:
    """Wait for the end; the last completed checkpoint."""
    last: dict[str, Any] = {}
    finished = client.get_job_execution_result()
    while not finished.done():
        time.sleep(0.5)
        try:
            address = f"http://127.0.0.1:{port}/jobs/{job}/checkpoints"
            with urllib.request.urlopen(address, timeout=5) as answer:
                done = json.load(answer)["latest"]["completed"]
        except (OSError, ValueError, KeyError):
            continue
        if done:
            last = {"checkpoint ms": done["end_to_end_duration"], "bytes": done["state_size"]}
    finished.result()
    return last


if __name__ == "__main__":
    place, keys, samples, dim, algorithm, second = sys.argv[1:]
    print(json.dumps(main(place, int(keys), int(samples), int(dim), algorithm, second == "yes")))
