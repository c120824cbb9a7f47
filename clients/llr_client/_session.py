"""`Session`, the blocking form of a session's operations."""

import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from llr_client._driver import Driver
from llr_client._frames import is_frame
from llr_client._operations import SessionOperations, annotate_progress
from llr_client._samples import CHUNK, blocks, chunks, one_sample
from llr_client.answers import Answer, History, Relearning, State
from llr_client.errors import RelearningStopped, SessionNotFound

Progress = Callable[[Relearning], None]
"""Called with how far a what-if is."""


def is_complete(state: State, progress: Progress | None) -> bool:
    """Report the progress of a what-if; True when it has learnt all samples.

    Raises:
        RelearningStopped: if it cannot continue.
    """
    if state.relearning is None:
        return True
    if progress is not None:
        progress(state.relearning)
    if state.relearning.stopped is not None:
        raise RelearningStopped(
            f"{state.name} stopped at t = {state.t}: {state.relearning.stopped}"
        )
    return state.relearning.done >= state.relearning.of


def deleted_error(name: str) -> SessionNotFound:
    """The error for a session that was deleted while a caller waited for it."""
    return SessionNotFound(f"{name} was deleted while it was waited for")


class SessionBase:
    """The properties that `Session` and `AsyncSession` share."""

    def __init__(self, operations: SessionOperations) -> None:
        self._operations = operations

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, producer={self.producer!r})"

    @property
    def name(self) -> str:
        """The session's name."""
        return self._operations.name

    @property
    def producer(self) -> str:
        """The producer's name, under which samples are numbered."""
        return self._operations.numbers.producer


class Session(SessionBase):
    """A session of the service, seen by one producer. `Client.session` creates it.

    Samples are numbered as they are sent, so a retry is learnt once. Threads may share a session;
    their batches are sent one at a time.
    """

    def __init__(self, operations: SessionOperations, driver: Driver) -> None:
        super().__init__(operations)
        self._driver, self._lock = driver, threading.Lock()

    def learn(
        self,
        x: Any = None,
        y: Any = None,
        *,
        w: float | None = None,
        seq: int | None = None,
        next: int | None = None,  # noqa: A002
        theta: bool = True,
        predictions: bool = False,
    ) -> Answer:
        """Learn from one sample: `learn(x, y)`, or `learn(y)` for models without features.

        Args:
            x: the features: a list of numbers, or a dict of numbers, booleans and strings.
            y: the label; the name of a class if classes have names.
            w: its weight, 1 if omitted: it multiplies the loss.
            seq: its own sequence number, where numbers have holes, such as a Kafka offset.
            next: the producer's next number afterwards, if more is known to be skipped.
            theta: whether the answer contains theta.
            predictions: whether the answer contains the predictions made before learning.

        Raises:
            LLRError: see `llr_client.errors`.
        """
        with self._lock:
            sample = one_sample(x, y, w, seq, next)
            return self._driver.run(self._operations.learn(sample, theta, predictions))

    def learn_many(
        self,
        X: Any,
        y: Any = None,
        *,
        w: Any = None,
        seq: Any = None,
        next: int | None = None,  # noqa: A002
        theta: bool = True,
        predictions: bool = False,
        progress: Callable[[Answer], None] | None = None,
        chunk_bytes: int = CHUNK,
    ) -> Answer:
        """Learn from many samples, in order: `learn_many(X, y)`, or `learn_many(y)`.

        Arrays are sent as float64, or float32 if all of them are float32; dicts are sent as JSON.
        Each chunk is learnt whole or not at all. An error's `learnt` counts the samples that were
        learnt before it: call again with the rest.

        Args:
            X: one row or dict per sample, or a frame of pandas, polars or pyarrow by column name.
            y: one label per row, or the name of a column of the frame.
            w: one weight per row, one for all rows, or the name of a column; 1 if omitted.
            seq: one sequence number per row, strictly increasing, where numbers have holes.
            next: the producer's next number afterwards, if more is known to be skipped.
            theta: whether the answer contains theta.
            predictions: whether the answer contains the predictions made before learning.
            progress: called after each chunk with the answer so far.
            chunk_bytes: approximate size of a chunk, in bytes.

        Returns:
            The last answer; `accepted` counts all chunks.
        """
        batches = chunks(X, y, chunk_bytes, w, seq, next)
        with self._lock:
            operation = self._operations.learn_all(
                batches, theta, predictions, progress, is_frame(X)
            )
            return self._driver.run(operation)

    def stream(
        self, samples: Iterable[Any], *, block: int = 500, theta: bool = True
    ) -> Generator[Answer, None, None]:
        """Learn from an iterable of samples: `(x, y)`, `(x, y, w)`, `y`, or dicts.

        Yields one answer per block.

        Args:
            samples: the samples; read only as fast as they are learnt.
            block: the most samples of a block. A block is sent when it is full.
            theta: whether the answers contain theta.
        """
        learnt = 0
        for batch in blocks(samples, block):
            with self._lock, annotate_progress(learnt):
                answer = self._driver.run(self._operations.learn(batch, theta))
            learnt += batch.n
            yield answer

    def acked(self) -> int:
        """The number of this producer's samples that the service has: where to continue."""
        with self._lock:
            return self._driver.run(self._operations.acked())

    def skip_to(self, number: int) -> int:
        """Skip this producer's numbers below `number`, on disk when it returns.

        For numbers that never become samples, such as the last offsets of a Kafka transaction. A
        number below the next one changes nothing.

        Returns:
            The producer's next number.
        """
        with self._lock:
            return self._driver.run(self._operations.skip_to(number))

    def predict(
        self,
        x: Any = None,
        *,
        id: str | Sequence[str] | None = None,  # noqa: A002
        interval: float | None = None,
    ) -> Any:
        """Predict without learning: a mean, a probability, or one probability per class.

        Args:
            x: the features of one sample, or one row or dict per sample; None for models without
                features.
            id: an id under which x is kept for its `label`, or one id per row.
            interval: 0.5, 0.8, 0.9, 0.95 or 0.99: how often labels are to be within the bounds.

        Returns:
            One prediction for one row, a list for several rows; with `interval` a `Prediction`.
        """
        return self._driver.run(self._operations.predict(x, id, interval))

    def label(
        self,
        id: str | Sequence[str],  # noqa: A002
        y: Any,
        *,
        w: Any = None,
        theta: bool = True,
        predictions: bool = False,
    ) -> Answer:
        """Learn the x that `predict` kept under an id, exactly once; or several, in this order.

        Args:
            id: the id, or a list of ids.
            y: the label, or one label per id.
            w: its weight, one per id, or one for all; 1 if omitted.
            theta: whether the answer contains theta.
            predictions: whether the answer contains the predictions made before learning.
        """
        return self._driver.run(self._operations.label(id, y, w, theta, predictions))

    def state(self) -> State:
        """The session's state."""
        return self._driver.run(self._operations.state())

    def history(self, points: int = 500, theta: Sequence[int | str] | None = None) -> History:
        """The history in at most `points` points; of theta these coordinates, or the first 8."""
        return self._driver.run(self._operations.history(points, theta))

    def events(self) -> Generator[State, None, None]:
        """The state now and after every change, until the session is deleted.

        A broken connection is opened again; changes in between are skipped.
        """
        return self._driver.iterate(self._operations.events())

    def snapshot(self) -> dict[str, Any]:
        """A snapshot of the session as plain JSON, for `Client.restore`."""
        return self._driver.run(self._operations.snapshot())

    def fork(
        self,
        name: str,
        *,
        algorithm: str | None = None,
        eta0: float | None = None,
        theta0: Any = None,
        regret: str | None = None,
        options: Mapping[str, Any] | None = None,
        retain: bool | None = None,
        relearn: bool = False,
        producer: str | None = None,
    ) -> "Session":
        """Copy this session: the same state bit by bit, with the same producers.

        A changed config restarts the copy: theta is this session's theta unless `theta0` is given,
        the step size starts at `eta0`, and t, loss, regret and history start from zero. With
        `relearn` the copy instead learns all samples of this session again, in the background: see
        `relearnt`.

        Args:
            name: the copy's name.
            algorithm: the copy's algorithm.
            eta0: its initial or fixed step size; this session's if omitted.
            theta0: its initial theta.
            regret: `exact` or `off`.
            options: all its options; if omitted, those of this session that still apply.
            retain: whether it retains its samples; as this session if omitted.
            relearn: learn all samples again with this config. This session must retain its samples.
            producer: the name under which this program's samples to the copy are numbered.

        Raises:
            SessionExists: if the name is taken. After a lost answer it may be taken by this copy:
                then `retried` of the error is true.
            NotRetained: if `relearn` is set and this session did not retain all its samples.
        """
        operation = self._operations.fork(
            name,
            producer,
            algorithm=algorithm,
            eta0=eta0,
            theta0=theta0,
            regret=regret,
            options=options,
            retain=retain,
            relearn=relearn or None,
        )
        return Session(self._driver.run(operation), self._driver)

    def relearnt(self, progress: Progress | None = None) -> State:
        """Wait until a fork with `relearn` has learnt all samples; returns its state.

        Args:
            progress: called with the progress, a few times a second.

        Raises:
            RelearningStopped: if it cannot continue, as when a step is not finite.
        """
        with closing(self.events()) as states:
            for state in states:
                if is_complete(state, progress):
                    return state
        raise deleted_error(self.name)

    def add_shadow(
        self,
        name: str,
        algorithm: str,
        *,
        eta0: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> State:
        """Add a shadow: another algorithm that learns the same samples from now on.

        Args:
            name: the shadow's name.
            algorithm: the shadow's algorithm.
            eta0: its initial or fixed step size.
            options: options of the algorithm.

        Returns:
            The session's state.

        Raises:
            ShadowExists: if the name is taken by another shadow.
        """
        operation = self._operations.add_shadow(
            name, algorithm=algorithm, eta0=eta0, options=options
        )
        return self._driver.run(operation)

    def remove_shadow(self, name: str) -> None:
        """Delete a shadow and its state."""
        self._driver.run(self._operations.remove_shadow(name))

    def promote(self, name: str) -> State:
        """Make a shadow the champion. `former` of the returned state names the previous one."""
        return self._driver.run(self._operations.promote(name))

    def delete(self, *, if_t: int | None = None) -> None:
        """Delete the session and all its data; with `if_t` only if it is at this t, else 412."""
        self._driver.run(self._operations.delete(if_t))
