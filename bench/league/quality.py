"""river's table of quality: its models and `auto`, predicted, then learnt, in river's metrics.

river's models are set as its own benchmark sets them. The published figures are those of its
documentation for river 0.19. Its forests take minutes and are not run here; Elec2, of which that
table also tells, is not in the package but would be downloaded, and is left out.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from river import (
    datasets,
    dummy,
    evaluate,
    linear_model,
    metrics,
    naive_bayes,
    neighbors,
    optim,
    preprocessing,
    stats,
    tree,
)

from bench.league import real
from llr import Learner

AUTO = "auto"
RATE = 0.005


class Track(NamedTuple):
    """A kind of task.

    Attributes:
        sets: names of river's data sets.
        metrics: river's metrics, by the names in the table.
        models: how river's own benchmark sets its models, by the names in its table.
        published: the figures of river's documentation, by set and model.
    """

    sets: tuple[str, ...]
    metrics: dict[str, Callable[[], Any]]
    models: dict[str, Callable[[], Any]]
    published: dict[str, dict[str, tuple[float, ...]]]


def _scaled(model: Any) -> Any:
    return preprocessing.StandardScaler() | model


BINARY = Track(
    ("Phishing",),
    {"accuracy": metrics.Accuracy, "F1": metrics.F1},
    {
        "Logistic regression": lambda: _scaled(
            linear_model.LogisticRegression(optimizer=optim.SGD(RATE))
        ),
        "ALMA": lambda: _scaled(linear_model.ALMAClassifier()),
        "Naive Bayes": naive_bayes.GaussianNB,
        "Hoeffding Tree": tree.HoeffdingTreeClassifier,
        "k-Nearest Neighbors": lambda: _scaled(neighbors.KNNClassifier()),
        "[baseline] Last Class": dummy.NoChangeClassifier,
    },
    {
        "Phishing": {
            "Logistic regression": (0.8872, 0.871233),
            "ALMA": (0.8256, 0.810764),
            "Naive Bayes": (0.884708, 0.871429),
            "Hoeffding Tree": (0.879904, 0.860595),
            "k-Nearest Neighbors": (0.881505, 0.867145),
            "Adaptive Random Forest": (0.907926, 0.896116),
            "Aggregated Mondrian Forest": (0.904724, 0.892112),
            "[baseline] Last Class": (0.515612, 0.447489),
        }
    },
)
CLASSES = Track(
    ("ImageSegments",),
    {"accuracy": metrics.Accuracy, "macro F1": metrics.MacroF1},
    {
        "Softmax regression": lambda: _scaled(linear_model.SoftmaxRegression()),
        "Naive Bayes": naive_bayes.GaussianNB,
        "Hoeffding Tree": tree.HoeffdingTreeClassifier,
        "k-Nearest Neighbors": lambda: _scaled(neighbors.KNNClassifier()),
        "[baseline] Last Class": dummy.NoChangeClassifier,
    },
    {
        "ImageSegments": {
            "Naive Bayes": (0.731919, 0.730419),
            "Hoeffding Tree": (0.776094, 0.763137),
            "k-Nearest Neighbors": (0.873538, 0.872136),
            "Adaptive Random Forest": (0.818536, 0.814535),
            "Aggregated Mondrian Forest": (0.901689, 0.900381),
            "[baseline] Last Class": (0.148116, 0.148116),
        }
    },
)
NUMBERS = Track(
    ("ChickWeights", "TrumpApproval"),
    {"MAE": metrics.MAE, "RMSE": metrics.RMSE, "R²": metrics.R2},
    {
        "Linear Regression": lambda: _scaled(linear_model.LinearRegression()),
        "Bayesian Linear Regression": linear_model.BayesianLinearRegression,
        "Passive-Aggressive Regressor, mode 1": lambda: _scaled(linear_model.PARegressor(mode=1)),
        "k-Nearest Neighbors": lambda: _scaled(neighbors.KNNRegressor()),
        "Hoeffding Tree": lambda: _scaled(tree.HoeffdingTreeRegressor()),
        "[baseline] Mean predictor": lambda: dummy.StatisticRegressor(stats.Mean()),
    },
    {
        "ChickWeights": {
            "Linear Regression": (23.7587, 37.0377, 0.727954),
            "Passive-Aggressive Regressor, mode 1": (24.3423, 37.596, 0.71969),
            "k-Nearest Neighbors": (24.8406, 39.2016, 0.695236),
            "Hoeffding Tree": (23.1619, 36.7336, 0.732402),
            "Adaptive Random Forest": (26.1016, 40.8094, 0.669725),
            "Aggregated Mondrian Forest": (25.6742, 41.7123, 0.65479),
            "[baseline] Mean predictor": (50.2509, 71.1144, -0.00292947),
        },
        "TrumpApproval": {
            "Linear Regression": (1.31455, 3.91198, -4.23035),
            "Passive-Aggressive Regressor, mode 1": (4.98403, 6.97667, -15.6354),
            "k-Nearest Neighbors": (0.641679, 1.59417, 0.131425),
            "Hoeffding Tree": (0.956103, 2.24987, -0.730022),
            "Adaptive Random Forest": (0.800378, 2.11495, -0.528761),
            "Aggregated Mondrian Forest": (0.268533, 0.349421, 0.958184),
            "[baseline] Mean predictor": (1.56755, 2.20286, -0.658483),
        },
    },
)
TRACKS = (BINARY, CLASSES, NUMBERS)
JOBS = [
    (place, name, model)
    for place, track in enumerate(TRACKS)
    for name in track.sets
    for model in (AUTO, *track.models)
]
"""The arguments of `measure` for every line of the table."""


def models_of(place: int, name: str) -> list[str]:
    """Every model of the table for a set: `auto`, those that run, and those only published."""
    track = TRACKS[place]
    return list(dict.fromkeys((AUTO, *track.models, *track.published[name])))


def measure(place: int, name: str, model: str) -> list[float]:
    """The metrics of a model on a set, each sample predicted before it is learnt."""
    track = TRACKS[place]
    told = [make() for make in track.metrics.values()]
    if model == AUTO:
        return _auto(name, told)
    together = functools.reduce(operator.add, told)
    evaluate.progressive_val_score(getattr(datasets, name)(), track.models[model](), together)
    return [one.get() for one in told]


def _auto(name: str, told: list[Any]) -> list[float]:
    """`auto` at its defaults, on the numbers among the features."""
    stream = real.stream(name)
    given: dict[str, Any] = {"classes": stream.classes} if stream.classes else {}
    learner = Learner(stream.model, **given)
    for x, y in zip(stream.X, stream.y.tolist(), strict=True):
        found = learner.predict(x)
        guess = float(found) if stream.model == "linear" else int(_class(found))
        for metric in told:
            metric.update(type(guess)(y), guess)
        learner.learn(x, y)
    return [one.get() for one in told]


def _class(found: Any) -> int:
    """The likeliest class of a probability, or of one for each class."""
    return int(found.argmax()) if getattr(found, "ndim", 0) else int(found > 0.5)
