"""Learners as ONNX models, to predict where there is no Python.

The graph computes what `predict` computes, in float64 inside: linear scores, of `auto` all of its
experts within their bounds and by their weights, then the model's mean. It takes `X`, a row a
sample, and gives `prediction`; where classes have names also `label`. The input and the outputs are
float32 unless `double` is set. A model without features takes no input.

>>> import llr, onnx.reference
>>> learner = llr.Learner("logistic", dim=2, classes=["ham", "spam"])
>>> bool(learner.learn([[1.0, 0.0], [0.0, 1.0]] * 20, ["ham", "spam"] * 20))
True
>>> run = onnx.reference.ReferenceEvaluator(to_onnx(learner)).run
>>> prediction, label = run(None, {"X": np.array([[0.0, 1.0]], np.float32)})
>>> bool(abs(prediction[0] - learner.probabilities([0.0, 1.0])) < 1e-6), label.tolist()
(True, ['spam'])
"""

import functools
import json
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import llr
from llr import filters
from llr.auto import bank_layout, class_filters, layout
from llr.errors import SampleError
from llr.kernels.layout import THETA
from llr.models import Model
from llr.types import Vector

OPSET, IR_VERSION = 17, 8
"""Of 2022, so that runtimes of many ages can read it."""

EXPERTS = (
    (layout.AVERAGED, layout.OF_AVERAGED, layout.AVERAGED_VOTE),
    (layout.ADAPTIVE, layout.OF_ADAPTIVE, layout.ADAPTIVE_VOTE),
    (layout.AGGRESSIVE, layout.OF_AGGRESSIVE, layout.AGGRESSIVE_VOTE),
)
"""Of each first-order learner of `auto`: its row of the state, its constant term, its share."""


def to_onnx(learner: llr.Learner | llr.NamedLearner, *, double: bool = False) -> onnx.ModelProto:
    """The learner's `predict` as an ONNX model.

    Features with names are columns in the order of `learner.theta`; the model's metadata has the
    names as `features`, a JSON list, and those of classes as `classes`.

    Args:
        learner: the learner, as it is now.
        double: whether the input and the predictions are float64.
    """
    config, state = learner.config, learner._state
    if state is None:
        raise SampleError("nothing to export before dim is known: give dim, or a sample")
    graph, kind = _Graph(), TensorProto.DOUBLE if double else TensorProto.FLOAT
    features, several = config.of_model.features, config.of_model.classes
    p = _mean(graph, learner) if features else graph.constant([[learner.probabilities(None)]])
    flat = p if several else graph.op("Reshape", p, graph.constant([-1], np.int64))
    graph.op("Cast", flat, to=kind, output="prediction")
    outputs = [_shaped("prediction", kind, ["n", config.scores] if several else ["n"])]
    if config.classes is not None:
        both = p if several else graph.op("Concat", graph.minus(1.0, p), p, axis=1)
        best = graph.op("ArgMax", both, axis=1, keepdims=0)
        graph.op("Gather", graph.constant(config.classes, object), best, output="label")
        outputs.append(_shaped("label", TensorProto.STRING, ["n"]))
    inputs = [_shaped("X", kind, ["n", learner.dim])] if features else []
    whole = helper.make_graph(graph.nodes, "llr", inputs, outputs, graph.constants)
    model = helper.make_model(
        whole, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
    )
    model.producer_name, model.producer_version = "llr", llr.__version__
    helper.set_model_props(model, _metadata(learner))
    onnx.checker.check_model(model)
    return model


class _Graph:
    """A graph under construction; values are known by their names."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def op(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Apply an operator; returns the name of its result."""
        name = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any, kind: Any = np.float64) -> str:
        """A constant tensor."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, kind), name))
        return name

    def plus(self, a: str, b: Any) -> str:
        """a + b, where b is a value's name or numbers."""
        return self.op("Add", a, b if isinstance(b, str) else self.constant(b))

    def minus(self, a: Any, b: str) -> str:
        """a − b, where a is numbers."""
        return self.op("Sub", self.constant(a), b)

    def times(self, a: str, b: Any) -> str:
        """a · b element by element, where b is numbers."""
        return self.op("Mul", a, self.constant(b))

    def linear(self, x: str, theta: Vector, constant: Any) -> str:
        """The scores θ·x + constant: θ has a row a score."""
        return self.plus(self.op("MatMul", x, self.constant(theta.T)), np.atleast_1d(constant))

    def clip(self, x: str, most: Any) -> str:
        """X within ± most, element by element."""
        return self.op("Max", self.op("Min", x, self.constant(most)), self.constant(-most))

    def sigmoid(self, s: str) -> str:
        """1/(1 + e^−s), exact to the last digits also where it is tiny, as Sigmoid need not be."""
        top = self.op("Exp", self.op("Min", s, self.constant(0.0)))
        return self.op(
            "Div", top, self.plus(self.op("Exp", self.op("Neg", self.op("Abs", s))), 1.0)
        )

    def within(self, s: str, low: float, high: float, trust: float, most: float) -> str:
        """`llr.auto.clipping.bounded`."""
        inside = self.op("Min", self.op("Max", s, self.constant(low)), self.constant(high))
        beyond = self.clip(self.op("Sub", s, inside), np.float64(most))
        return self.plus(inside, self.times(beyond, 1.0 - trust))


def _mean(graph: _Graph, learner: Any) -> str:
    """The mean of the label for each row of X, a column a score."""
    config, V = learner.config, _vectors(learner)
    x = graph.op("Cast", "X", to=TensorProto.DOUBLE)
    if config.algorithm == "auto":
        named = isinstance(learner, llr.NamedLearner)
        s = _auto(graph, config.of_model, x, V, learner._state.scalars, named)
    else:
        s = graph.linear(x, *_linear(learner, V))
    if config.of_model.classes:
        return graph.op("Softmax", s, axis=1)
    if config.of_model.binary:
        return graph.sigmoid(s)
    return graph.op("Exp", s) if config.model == "poisson" else s


def _linear(learner: Any, V: Vector) -> tuple[Vector, Any]:
    """θ, a row a score, and the constant terms."""
    if isinstance(learner, llr.NamedLearner):
        theta = np.array(list(learner.theta.values())).reshape(V.shape[2], V.shape[1]).T
    else:
        theta = np.atleast_2d(learner.theta)
    intercept = learner.intercept
    return theta, np.zeros(V.shape[1]) if intercept is None else intercept


def _auto(graph: _Graph, model: Model, x: str, V: Vector, scalars: Vector, named: bool) -> str:
    """The scores of `llr.auto.predict.score`."""
    scores = V.shape[1]
    shares = scalars[layout.SHARES : layout.SHARES + layout.VOTERS]
    if not shares[0] > 0.0:
        return graph.linear(x, V[layout.AVERAGED if named else THETA], np.zeros(scores))
    each = layout.FIRST + layout.EACH * np.arange(scores)
    bounds = [float(scalars[at]) for at in (layout.FLOOR, layout.CEILING, layout.TRUST)]
    bounds.append(float(model.most_beyond(np.float64(bounds[0]), np.float64(bounds[1]))))
    constant = scalars[each + layout.INTERCEPT_ONLY]
    s = graph.constant((shares[layout.INTERCEPT_ONLY_VOTE] * constant)[None])
    for row, own, vote in EXPERTS:
        score = graph.linear(x, V[row], scalars[each + own])
        s = graph.plus(s, graph.times(graph.within(score, *bounds), shares[vote]))
    if not layout.has_bank(scalars, scores):
        return s
    bank = scalars[layout.FIRST + layout.EACH * scores :]
    if scores > 1:
        return _class_filters(graph, x, bank, s, V.shape[2], bounds)
    return _bank(graph, x, bank, s, V.shape[2], bounds, float(constant[0]))


def _bank(
    graph: _Graph, x: str, bank: Vector, first: str, d: int, bounds: list[float], constant: float
) -> str:
    """The scores of `llr.auto.bank.score`."""
    low, high, trust, most = bounds
    hardly = bank[bank_layout.STARTING] == bank_layout.HARDLY
    z = _direction(graph, x, bank[bank_layout.HEAD :], d, hardly)
    odds = bank[bank_layout.PROBABILITIES] != 0.0
    weights = bank[bank_layout.WEIGHTS : bank_layout.WEIGHTS + bank_layout.EXPERTS]
    experts = {bank_layout.FIRST_ORDER: first}
    experts[bank_layout.INTERCEPT_ONLY] = graph.constant([[constant]])
    at, n = bank_layout.first_filter(d), d + 1
    for k in range(bank_layout.FILTERS):
        theta, D = bank[at : at + n], bank[at + n : at + 2 * n]
        s = graph.linear(z, theta[None, 1:], theta[0])
        if odds:  # drawn towards even odds by the variance q = Σ D (Uᵀz)²
            U = np.eye(n)
            U.T[np.tril_indices(n, -1)] = bank[at + 2 * n : at + filters.size(n)]
            f = graph.linear(z, U.T[:, 1:], U[0])
            q = graph.op("MatMul", graph.op("Mul", f, f), graph.constant(D[:, None]))
            spread = graph.plus(graph.times(q, bank_layout.MODERATION), 1.0)
            s = graph.op("Div", s, graph.op("Sqrt", spread))
        experts[k] = graph.within(s, low, high, min(trust, float(bank[bank_layout.TRUST])), most)
        at += filters.size(n)
    if not odds:
        return _weighted(graph, experts, weights)
    ones = {k: graph.sigmoid(s) for k, s in experts.items()}
    zeros = {k: graph.sigmoid(graph.op("Neg", s)) for k, s in experts.items()}
    logs = [graph.op("Log", _weighted(graph, of, weights)) for of in (ones, zeros)]
    return graph.op("Sub", *logs)


def _class_filters(
    graph: _Graph, x: str, bank: Vector, first: str, d: int, bounds: list[float]
) -> str:
    """The scores of `llr.auto.class_filters.score`: logarithms of the mixed probabilities."""
    n, start = d + 1, class_filters.START
    per_class = d + filters.size(n)  # θ_0, and the filter
    scores = (bank.size - class_filters.HEAD - 2 * d - start * (d + 2)) // per_class
    starting = bank[class_filters.STARTING] != 0.0
    z = _direction(graph, x, bank[class_filters.HEAD :], d, starting)
    at = class_filters.HEAD + d * (2 + scores) + start * (d + 2)
    theta = bank[at : at + scores * filters.size(n)].reshape(scores, -1)[:, :n]
    own = graph.within(graph.linear(z, theta[:, 1:], theta[:, 0]), *bounds)
    weights = bank[class_filters.WEIGHTS : class_filters.WEIGHTS + 2]
    both = {class_filters.OF_FILTERS: own, class_filters.OF_FIRST: first}
    shares = {k: graph.op("Softmax", s, axis=1) for k, s in both.items()}
    return graph.op("Log", _weighted(graph, shares, weights))


def _direction(graph: _Graph, x: str, scales: Vector, d: int, clipped: bool) -> str:
    """X − c, at most √10 standard deviations while these are hardly known."""
    z = graph.plus(x, -scales[:d])
    return graph.clip(z, np.sqrt(bank_layout.FAR * scales[d : 2 * d])) if clipped else z


def _weighted(graph: _Graph, values: dict[int, str], weights: Vector) -> str:
    """The values by the weights of the same numbers."""
    first, *others = [graph.times(value, weights[k]) for k, value in sorted(values.items())]
    return functools.reduce(graph.plus, others, first)


def _vectors(learner: Any) -> Vector:
    """The state's vectors, row × score × feature."""
    if isinstance(learner, llr.NamedLearner):
        return learner._state.version.whole().transpose(1, 2, 0)
    vectors: Vector = learner._state.vectors
    return vectors


def _shaped(name: str, kind: int, shape: list[Any]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _metadata(learner: Any) -> dict[str, str]:
    config = learner.config
    found = {"model": config.model, "algorithm": config.algorithm, "t": str(learner.t)}
    if isinstance(learner, llr.NamedLearner):
        found["features"] = json.dumps(list(learner.theta))
    if config.classes is not None:
        found["classes"] = json.dumps(list(config.classes))
    return found
