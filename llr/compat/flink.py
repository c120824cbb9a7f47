"""A learner for every key of a stream in Apache Flink, in Flink's own state and checkpoints.

`KeyedLearner` is a process function for a keyed stream. For each element it predicts, learns, and
gives `(key, t, prediction, learnt)`; the prediction is from before the label was learnt. An element
without a label is predicted only. The state of a key is its packed learner (`llr.compat.keyed`), so
a job that is restored from a checkpoint goes on bit by bit as if it had never stopped.

Elements are learnt in the order in which they arrive, or with `event_time` in the order of their
timestamps: they wait in Flink's state until the watermark has passed them. A late element, which
the watermark has passed already, is learnt at once.

An element that cannot be learnt (a wrong number of features, a label outside the domain) fails the
job, and fails it again after every restart. With `bad` it goes to that side output instead, as
`(key, reason, element)`, and the job goes on.

    stream.key_by(lambda order: order["customer"]).process(
        KeyedLearner(lambda order: (order["x"], order["price"]), model="linear", dim=3)
    )

PyFlink asks for other versions of Python and numpy than this project does: install it in an
environment of its own (docs/compat.md). The module can be imported without it.
"""

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from llr.compat.keyed import Features, Step
from llr.errors import SampleError

try:
    from pyflink.common import Types
    from pyflink.datastream import KeyedProcessFunction
    from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor
except ImportError:  # only a job needs it
    KeyedProcessFunction = object

Answered = tuple[Any, int, Any, bool]
"""A key, its number of samples, the prediction, and whether the sample was learnt."""

CACHE = 10_000
"""Learners that a parallel instance keeps unpacked."""


class KeyedLearner(KeyedProcessFunction):  # type: ignore[misc]
    """Learns and predicts, a learner a key.

    Args:
        sample: (element) → features and label; features are None for a model without, and the label
            is None for an element that is to be predicted only.
        of_key: (key) → settings of this key's learner, beyond those of all. They count when the
            key comes up first, and have to be the same afterwards.
        named: features come as a mapping from names to values.
        event_time: learn in the order of timestamps, which the stream has to assign.
        bad: the `OutputTag` of elements that cannot be learnt; None to fail the job.
        settings: of `llr.Config`, or of `llr.NamedConfig` if `named`.
    """

    def __init__(
        self,
        sample: Callable[[Any], tuple[Features, Any]],
        *,
        of_key: Callable[[Any], Mapping[str, Any]] | None = None,
        named: bool = False,
        event_time: bool = False,
        bad: Any = None,
        **settings: Any,
    ) -> None:
        self._sample, self._of_key = sample, of_key
        self._event_time, self._bad = event_time, bad
        self._settings = {"named": named, **settings}
        self._step = Step(cache=CACHE, **self._settings)
        self._state: Any = None
        self._waiting: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to the workers: no learners."""
        return self.__dict__ | {"_step": Step(cache=CACHE, **self._settings)}

    def open(self, runtime_context: Any) -> None:
        """Find the states of the operator; Flink calls it before the first element."""
        kind = Types.PRIMITIVE_ARRAY(Types.BYTE())
        self._state = runtime_context.get_state(ValueStateDescriptor("llr", kind))
        if self._event_time:
            waiting = ListStateDescriptor("llr-waiting", Types.PICKLED_BYTE_ARRAY())
            self._waiting = runtime_context.get_list_state(waiting)

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        """Predict and learn one element, or keep it until its time has come."""
        if not self._event_time:
            yield self._learn(value, ctx.get_current_key())
            return
        timestamp = ctx.timestamp()
        if timestamp is None:
            raise ValueError("event_time needs a stream that assigns timestamps")
        if timestamp <= ctx.timer_service().current_watermark():
            yield self._learn(value, ctx.get_current_key())
        else:
            self._waiting.add((timestamp, value))
            ctx.timer_service().register_event_time_timer(timestamp)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        """Learn the elements up to this time, in the order of time and, within it, of arrival."""
        waiting = sorted(self._waiting.get(), key=itemgetter(0))
        due = [value for at, value in waiting if at <= timestamp]
        self._waiting.update([one for one in waiting if one[0] > timestamp])
        for value in due:
            yield self._learn(value, ctx.get_current_key())

    def _learn(self, value: Any, key: Any) -> Any:
        """The answer to an element, or a bad element with its side output."""
        before = self._state.value()
        try:
            after, (answer,) = self._step_of(key, before)(before, [self._sample(value)])
        except SampleError as error:
            if self._bad is None:
                raise
            return self._bad, (key, str(error), value)
        self._state.update(after)
        return key, answer.t, answer.prediction, answer.learnt

    def _step_of(self, key: Any, state: bytes | None) -> Step:
        """The step of a key; a state that exists has its settings."""
        if self._of_key is None or state is not None:
            return self._step
        return Step(**{**self._settings, **self._of_key(key)})
