"""A learner as a pure function of bytes, for engines that keep the state themselves.

Flink, Spark's `transformWithState`, Kafka Streams and Bytewax keep one value a key and checkpoint
it. `Step` maps that value and the key's next samples to the new value and the answers. It has no
clock and no I/O: the same samples give the same bytes on any machine with the same version.

>>> step = Step(model="linear", dim=1)
>>> state, answers = step(None, [([1.0], 2.0), ([2.0], 4.0)])
>>> state, answers = step(state, [([3.0], 6.0)])
>>> answers[0].t, answers[0].prediction > 3
(3, True)
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from llr.config import Config
from llr.learner import Learner
from llr.named import NamedConfig, NamedLearner

Features = Mapping[str, Any] | Sequence[float] | None


class Answer(NamedTuple):
    """The answer to one sample.

    Attributes:
        t: samples that this key has learnt, this one included.
        prediction: what was predicted before the label was learnt; one number, or one a class.
        learnt: False without a label, or if the step would have left the finite numbers; the state
            is unchanged then.
    """

    t: int
    prediction: Any
    learnt: bool


class Step:
    """`step(state, samples)` for keys that all have the same settings.

    Args:
        named: features come as a mapping from names to values.
        cache: how many learners stay in memory, so that the states that were returned last need
            not be unpacked. The result does not depend on it.
        settings: of `llr.Config`, or of `llr.NamedConfig` if `named`.
    """

    def __init__(self, *, named: bool = False, cache: int = 0, **settings: Any) -> None:
        self.named = named
        self.config = NamedConfig(**settings) if named else Config(**settings)
        self._cache, self._live = cache, dict[bytes, Any]()

    def __call__(
        self, state: bytes | None, samples: Iterable[tuple[Features, float | None]]
    ) -> tuple[bytes, list[Answer]]:
        """Learn from a key's next samples; `state` is None before its first.

        A sample whose label is None is predicted and not learnt. Raises `llr.SampleError` on a bad
        sample; then nothing of the call counts.
        """
        learner = self._live.pop(state, None) if state is not None else None
        if learner is None:
            learner = self.learner(state)
        answers = [self._answer(learner, x, y) for x, y in samples]
        after = learner.pack(history=False)
        if self._cache:
            self._live[after] = learner
            if len(self._live) > self._cache:
                del self._live[next(iter(self._live))]
        return after, answers

    def predict(self, state: bytes | None, x: Features) -> Any:
        """The prediction for one sample, from a key's state."""
        learner = self.learner(state)
        return learner.predict(x) if x is not None else learner.predict()

    def learner(self, state: bytes | None) -> Any:
        """The learner that a state holds, to look at θ, η or the loss."""
        kind = NamedLearner if self.named else Learner
        return kind.from_config(self.config) if state is None else kind.unpack(state)  # type: ignore[arg-type]

    @staticmethod
    def _answer(learner: Any, x: Features, y: float | None) -> Answer:
        if y is None:
            prediction = learner.predict() if x is None else learner.predict(x)
            return Answer(learner.t, np.asarray(prediction).tolist(), False)
        sample = (y,) if x is None else (x, y)
        outcome = learner.learn(*sample, predictions=True)
        prediction = outcome.predictions[0].tolist() if outcome else None
        return Answer(learner.t, prediction, bool(outcome))
