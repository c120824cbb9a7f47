"""A learner for every key of a stream in Apache Flink, in Flink's own state and checkpoints.

`KeyedLearner` is a process function for a keyed stream. For each element it predicts, learns, and
gives `(key, t, prediction, learnt)`; the prediction is from before the label was learnt. The state
of a key is its packed learner (`llr.compat.keyed`), so a job that is restored from a checkpoint
goes on bit by bit as if it had never stopped.

    stream.key_by(lambda order: order["customer"]).process(
        KeyedLearner(lambda order: (order["x"], order["price"]), model="linear", dim=3)
    )

PyFlink asks for other versions of Python and numpy than this project does: install it in an
environment of its own (docs/compat.md). The module can be imported without it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llr.compat.keyed import Features, Step

try:
    from pyflink.common import Types
    from pyflink.datastream import KeyedProcessFunction
    from pyflink.datastream.state import ValueStateDescriptor
except ImportError:  # only a job needs it
    KeyedProcessFunction = object

Answered = tuple[Any, int, Any, bool]
"""A key, its number of samples, the prediction, and whether the sample was learnt."""


class KeyedLearner(KeyedProcessFunction):  # type: ignore[misc]
    """Learns and predicts, a learner a key.

    Args:
        sample: (element) → features and label; features are None for a model without.
        of_key: (key) → settings of this key's learner, beyond those of all. They count when the
            key comes up first, and have to be the same afterwards.
        named: features come as a mapping from names to values.
        settings: of `llr.Config`, or of `llr.NamedConfig` if `named`.
    """

    def __init__(
        self,
        sample: Callable[[Any], tuple[Features, Any]],
        *,
        of_key: Callable[[Any], Mapping[str, Any]] | None = None,
        named: bool = False,
        **settings: Any,
    ) -> None:
        self._sample, self._of_key = sample, of_key
        self._named, self._settings = named, settings
        self._step = Step(named=named, **settings)
        self._state: Any = None

    def open(self, runtime_context: Any) -> None:
        """Find the state of the operator; Flink calls it before the first element."""
        kind = Types.PRIMITIVE_ARRAY(Types.BYTE())
        self._state = runtime_context.get_state(ValueStateDescriptor("llr", kind))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Answered]:
        """Predict and learn one element."""
        key, before = ctx.get_current_key(), self._state.value()
        after, (answer,) = self._step_of(key, before)(before, [self._sample(value)])
        self._state.update(after)
        yield key, answer.t, answer.prediction, answer.learnt

    def _step_of(self, key: Any, state: bytes | None) -> Step:
        """The step of a key; a state that exists has its settings."""
        if self._of_key is None or state is not None:
            return self._step
        return Step(named=self._named, **{**self._settings, **self._of_key(key)})
