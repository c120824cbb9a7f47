"""Named features: samples as objects of numbers, booleans and strings, whatever names come up.

A sample says which features it has; all others are 0. So a step costs what a sample has, not what
is known (`llr.kernels.vectors`), and continuing from a state costs what it touches
(`llr.named.column_store`).
"""

from llr.named.config import NamedConfig
from llr.named.feature_rows import NamedRows
from llr.named.learner import NamedLearner

__all__ = ["NamedConfig", "NamedLearner", "NamedRows"]
