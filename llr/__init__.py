"""Learners that tune their own step size, after *Speed learning on the fly* (Massé & Ollivier).

>>> import llr
>>> learner = llr.Learner("linear", dim=50, algorithm="sg/ag", eta0=1e-3)
>>> learner.learn(*llr.streams.regression(seed=0).take(7500)).accepted
7500
"""

from importlib.metadata import version

from llr import exact, streams
from llr.algorithms import ALGORITHMS, Algorithm
from llr.arithmetic import ARITHMETIC
from llr.base import Loss, Outcome, Regret, Status
from llr.config import Config
from llr.drift import Drift
from llr.errors import (
    ConfigError,
    DimensionError,
    DomainError,
    DtypeError,
    FeatureError,
    LLRError,
    NotFiniteError,
    SampleError,
    ShapeError,
    StateError,
    StateTooNew,
)
from llr.eta_status import EtaStatus
from llr.gen import GenSG
from llr.history import History
from llr.intervals import Interval
from llr.kernels.jit import prepare
from llr.learner import Learner
from llr.metrics import Measure, Metrics
from llr.models import MODELS, Model
from llr.named import NamedConfig, NamedLearner, NamedRows

__version__ = version("llr")

__all__ = [
    "ALGORITHMS",
    "ARITHMETIC",
    "MODELS",
    "Algorithm",
    "Config",
    "ConfigError",
    "DimensionError",
    "DomainError",
    "Drift",
    "DtypeError",
    "EtaStatus",
    "FeatureError",
    "GenSG",
    "History",
    "Interval",
    "LLRError",
    "Learner",
    "Loss",
    "Measure",
    "Metrics",
    "Model",
    "NamedConfig",
    "NamedLearner",
    "NamedRows",
    "NotFiniteError",
    "Outcome",
    "Regret",
    "SampleError",
    "ShapeError",
    "StateError",
    "StateTooNew",
    "Status",
    "exact",
    "prepare",
    "streams",
]
