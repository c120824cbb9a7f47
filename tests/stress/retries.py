"""Row 10: batches sent up to three times, late, overlapping, out of order, between reloads.

A state machine that hypothesis drives.
"""

import tempfile
from collections import Counter
from pathlib import Path
from typing import ClassVar

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine
from hypothesis.strategies import booleans, integers, sampled_from

from .model import STREAMS, Batch, Modelled
from .samples import ENCODINGS
from .verdict import Tick, Verdict

STEPS = 50
PRODUCERS = sampled_from([*STREAMS])
TIMES = integers(1, 3)


class Retries(RuleBasedStateMachine):
    """One session, three producers, and everything that can happen to a batch."""

    batches = Bundle("batches")
    counts: ClassVar[Counter[str]] = Counter()

    @initialize(dim_is_known=booleans())
    def start(self, dim_is_known: bool) -> None:
        """A session on a store of its own."""
        self._folder = tempfile.TemporaryDirectory()
        self._session = Modelled(Path(self._folder.name), dim_is_known, self.counts)

    @rule(
        target=batches,
        producer=PRODUCERS,
        offset=integers(-6, 2),
        n=integers(1, 6),
        encoding=sampled_from([*ENCODINGS]),
        times=TIMES,
    )
    def send(self, producer: str, offset: int, n: int, encoding: str, times: int) -> Batch:
        """Samples around the next one: known, overlapping, new, or after a gap."""
        seq = max(0, self._session.next(producer) + offset)
        batch = Batch(producer, seq, n, encoding)
        self._session.send(batch, times)
        return batch

    @rule(batch=batches, times=TIMES)
    def send_again(self, batch: Batch, times: int) -> None:
        """Any batch of the past, however late."""
        self._session.send(batch, times)

    @rule(batch=batches)
    def send_if_it_matches(self, batch: Batch) -> None:
        """A batch that asks for the present t."""
        self._session.send(batch, 1, {"if-match": f'"{self._session.t}"'})

    @rule(batch=batches, off=integers(1, 3))
    def send_if_it_does_not_match(self, batch: Batch, off: int) -> None:
        """A batch that asks for another t: a retry is told so, other numbers stay free."""
        wrong = {"if-match": f'"{self._session.t + off}"'}
        if self._session.is_new(batch):
            assert self._session.post(batch, wrong).status_code == 412
        else:
            self._session.send(batch, 1, wrong)

    @rule()
    def restart(self) -> None:
        """Stop, and start on the same file."""
        self._session.close()
        self._session.open()
        self.counts["restarts"] += 1

    @rule()
    def crowd_out(self) -> None:
        """The session leaves memory; the next touch loads it."""
        self._session.crowd_out()

    @rule()
    def create_again(self) -> None:
        """Delete and create: numbers start anew."""
        self._session.delete()
        self._session.create()

    @rule()
    def compare(self) -> None:
        """A look in between."""
        self._session.compare()

    def teardown(self) -> None:
        """A last look, from the file."""
        if not hasattr(self, "_session"):
            return
        try:
            self.restart()
            self._session.compare()
        finally:
            self._session.close()
            self._folder.cleanup()


def within(examples: int) -> settings:
    """So many runs of the machine, however slow."""
    slow = [HealthCheck.too_slow]
    return settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        suppress_health_check=slow,
    )


def run(folder: Path, seed: int, examples: int, tick: Tick) -> Verdict:
    """So many runs of the machine."""

    class Counted(Retries):
        counts: ClassVar[Counter[str]] = Counter()

        def teardown(self) -> None:
            super().teardown()
            self.counts["runs"] += 1
            tick()

    faults = []
    try:
        unshrunk = settings(within(examples), phases=[Phase.generate])
        run_machine(hypothesis.seed(seed)(Counted), settings=unshrunk)
    except Exception as failure:
        faults.append(f"{type(failure).__name__}: {failure}")
    return Verdict(dict(Counted.counts), "applied once, bit-equal", faults)
