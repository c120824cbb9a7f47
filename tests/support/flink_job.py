"""A Flink job for tests: learns by key, and gives each key's last state.

Runs in the environment of PyFlink: `python flink_job.py FOLDER KEYS SAMPLES KILL`. With KILL its
Python worker is killed once, after a checkpoint. The states go to FOLDER/states.json.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from llr.compat.flink import KeyedLearner

DIM = 3
WEIGHTS = np.arange(1.0, DIM + 1.0)


def sample(number: int) -> tuple[list[float], float]:
    """The features and the label of a number."""
    rng = np.random.default_rng(number)
    x = rng.normal(size=DIM)
    return x.tolist(), float(x @ WEIGHTS + 0.1 * rng.normal())


def settings(key: int) -> dict[str, Any]:
    """Every third key has an algorithm of its own."""
    return {"algorithm": "sg/ag"} if key % 3 == 0 else {}


class Watched(KeyedLearner):
    """Gives the state of a key after its last sample, and kills its process once."""

    def __init__(self, folder: str, last: int, kill_at: int) -> None:
        super().__init__(sample, of_key=settings, model="linear", dim=DIM)
        self._folder, self._last, self._kill_at = Path(folder), last, kill_at

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        mark = self._folder / "killed"
        if 0 <= self._kill_at <= value and not mark.exists():
            done = list(self._folder.glob("checkpoints/*/chk-*/_metadata"))
            if done:
                mark.write_text(f"{value} {done[0].parent.name}")
                os.kill(os.getpid(), signal.SIGKILL)
        for key, t, _, learnt in super().process_element(value, ctx):
            if t == self._last:
                yield json.dumps([key, learnt, bytes(self._state.value()).hex()])


def main(folder: str, keys: int, samples: int, kill: bool) -> None:
    """Run the job in a mini cluster, and write down the states."""
    from pyflink.common import Configuration, Types, WatermarkStrategy
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.datastream.connectors.number_seq import NumberSequenceSource

    # a worker of its own, as in a cluster, not a thread of this process
    os.environ["_python_worker_execution_mode"] = "process"  # noqa: SIM112
    config = Configuration()
    for name, value in {
        "execution.checkpointing.interval": "300ms",
        "execution.checkpointing.dir": f"file://{folder}/checkpoints",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "3",
        "restart-strategy.fixed-delay.delay": "100ms",
        "python.executable": sys.executable,
        "python.client.executable": sys.executable,
        "python.fn-execution.bundle.size": "200",
        "rest.bind-port": "0",
    }.items():
        config.set_string(name, value)
    env = StreamExecutionEnvironment.get_execution_environment(config)
    env.set_parallelism(1)
    total = keys * samples
    numbers = env.from_source(
        NumberSequenceSource(0, total - 1), WatermarkStrategy.no_watermarks(), "numbers"
    )
    learner = Watched(folder, samples, total // 2 if kill else -1)
    by_key = numbers.key_by(lambda number: number % keys, Types.LONG())
    states = by_key.process(learner, Types.STRING())
    with states.execute_and_collect() as found:
        rows = [json.loads(row) for row in found]
    Path(folder, "states.json").write_text(json.dumps(rows))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "kill")
