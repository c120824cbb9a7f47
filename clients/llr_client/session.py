"""A session, for programs that wait."""

import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from llr_client.answers import Answer, History, State
from llr_client.handle import Handle, Seat, telling
from llr_client.relearning import Progress, deleted, is_done
from llr_client.runner import Runner
from llr_client.samples import CHUNK, blocks, chunks, single


class Session(Seat):
    """A named learner, and one producer's place in it. `Client.session` makes it.

    Samples are numbered as they are sent, so what is tried again is learnt once. Threads may share
    a session; their samples are sent one batch at a time.
    """

    def __init__(self, handle: Handle, runner: Runner) -> None:
        super().__init__(handle)
        self._runner, self._turn = runner, threading.Lock()

    def learn(
        self, x: Any = None, y: Any = None, *, theta: bool = True, predictions: bool = False
    ) -> Answer:
        """Learn from one sample: `learn(x, y)`, or `learn(y)` for models without features.

        Args:
            x: the features: a list of numbers, or a dict of numbers, booleans and strings.
            y: the label.
            theta: whether the answer is to have theta.
            predictions: whether the answer is to have what was predicted before learning.

        Raises:
            LLRError: `llr_client.errors` says which there are.
        """
        with self._turn:
            return self._runner.run(self._handle.learn(single(x, y), theta, predictions))

    def learn_many(
        self,
        X: Any,
        y: Any = None,
        *,
        theta: bool = True,
        predictions: bool = False,
        progress: Callable[[Answer], None] | None = None,
        chunk_bytes: int = CHUNK,
    ) -> Answer:
        """Learn from many samples, in order: `learn_many(X, y)`, or `learn_many(y)`.

        They are sent as numbers of 64 bits, or of 32 if all of them are such, and dicts as JSON, in
        chunks that are each learnt whole or not at all. An error's `learnt` says how many samples
        were learnt before it: call again with the rest.

        Args:
            X: a row a sample, or a dict.
            y: a label a row.
            theta: whether the answer is to have theta.
            predictions: whether the answer is to have what was predicted before learning.
            progress: called after each chunk with the answer so far.
            chunk_bytes: bytes of a chunk, roughly.

        Returns:
            The last answer; `accepted` counts all chunks.
        """
        batches = chunks(X, y, chunk_bytes)
        with self._turn:
            talk = self._handle.learn_all(batches, theta, predictions, progress)
            return self._runner.run(talk)

    def stream(
        self, samples: Iterable[Any], *, block: int = 500, theta: bool = True
    ) -> Generator[Answer, None, None]:
        """Learn from samples as they come: `(x, y)`, `y`, or dicts. Yields an answer a block.

        Args:
            samples: where they come from; read only as fast as they are learnt.
            block: samples of a block, at most. Those of a started block wait until it is full.
            theta: whether the answers are to have theta.
        """
        learnt = 0
        for batch in blocks(samples, block):
            with self._turn, telling(learnt):
                answer = self._runner.run(self._handle.learn(batch, theta))
            learnt += batch.n
            yield answer

    def acked(self) -> int:
        """How many samples of this producer the service has: where a given one goes on."""
        with self._turn:
            return self._runner.run(self._handle.acked())

    def predict(
        self,
        x: Any = None,
        *,
        id: str | Sequence[str] | None = None,  # noqa: A002
    ) -> Any:
        """Predict without learning: a mean, a probability, or one a class.

        Args:
            x: the features of one sample, or a row or dict a sample; nothing for models without
                features.
            id: a name under which x is kept for its `label`, or a list with a name a row.

        Returns:
            A prediction for a row, a list of them for rows.
        """
        return self._runner.run(self._handle.predict(x, id))

    def label(
        self,
        id: str | Sequence[str],  # noqa: A002
        y: Any,
        *,
        theta: bool = True,
        predictions: bool = False,
    ) -> Answer:
        """Learn from what `predict` kept under an id, once; or from many, in this order.

        Args:
            id: its name, or a list of them.
            y: the label, or a label a name.
            theta: whether the answer is to have theta.
            predictions: whether the answer is to have what was predicted before learning.
        """
        return self._runner.run(self._handle.label(id, y, theta, predictions))

    def state(self) -> State:
        """All of the session."""
        return self._runner.run(self._handle.state())

    def history(self, points: int = 500, theta: Sequence[int | str] | None = None) -> History:
        """The past in at most so many points, with these parts of theta or the first 8."""
        return self._runner.run(self._handle.history(points, theta))

    def events(self) -> Generator[State, None, None]:
        """The state now and whenever it moves, until the session is deleted.

        A connection that breaks is made again; what happened meanwhile is skipped.
        """
        return self._runner.iterate(self._handle.events())

    def snapshot(self) -> dict[str, Any]:
        """Everything needed to go on elsewhere, as plain JSON: see `Client.restore`."""
        return self._runner.run(self._handle.snapshot())

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
        """A copy that goes its own way: the same to the last bit, and it knows all producers.

        With another config it restarts: theta is where this session's is, unless `theta0` is
        given; t, loss, regret and the past begin anew, and the step size at `eta0`. With `relearn`
        it learns all samples of this session anew instead, in the background: see `relearnt`.

        Args:
            name: the copy's name.
            algorithm: how the copy learns.
            eta0: its first step size, or the only one; this session's if left out.
            theta0: where its theta starts.
            regret: `exact` or `off`.
            options: all its options; if left out, those of this session that still fit.
            retain: whether it keeps its samples; as this session if left out.
            relearn: what if all had been learnt so? This session has to keep its samples.
            producer: under which name this program's samples to the copy are numbered.

        Raises:
            SessionExists: if the name is taken. After a lost answer that may be this very copy:
                then `retried` of the error is true.
            NotRetained: if it is to re-learn and this session did not keep all its samples.
        """
        talk = self._handle.fork(
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
        return Session(self._runner.run(talk), self._runner)

    def relearnt(self, progress: Progress | None = None) -> State:
        """Wait until a fork with `relearn` has learnt all; its state then.

        Args:
            progress: told how far it is, a few times a second.

        Raises:
            RelearningStopped: if it cannot, as when a step would leave the finite numbers.
        """
        with closing(self.events()) as states:
            for state in states:
                if is_done(state, progress):
                    return state
        raise deleted(self.name)

    def add_shadow(
        self,
        name: str,
        algorithm: str,
        *,
        eta0: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> State:
        """Let another algorithm learn the same samples from now on, to compare; the state then.

        Args:
            name: what the shadow is called.
            algorithm: how it learns.
            eta0: its first step size, or the only one.
            options: settings of the algorithm.

        Raises:
            ShadowExists: if there is another one of that name.
        """
        talk = self._handle.add_shadow(name, algorithm=algorithm, eta0=eta0, options=options)
        return self._runner.run(talk)

    def remove_shadow(self, name: str) -> None:
        """Remove a shadow and what it has learnt."""
        self._runner.run(self._handle.remove_shadow(name))

    def promote(self, name: str) -> State:
        """Make a shadow the champion; the state then, whose `former` is the one before's name."""
        return self._runner.run(self._handle.promote(name))

    def delete(self) -> None:
        """Delete the session and all that is kept of it."""
        self._runner.run(self._handle.delete())
