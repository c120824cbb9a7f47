"""Named features: samples as objects of numbers, booleans and strings, whatever names come up.

A sample says which features it has; all others are 0. So a step costs what a sample has, not what
is known (`llr.present`), and going on from a state costs what it touches (`llr.named.table`).
"""

from llr.named.config import NamedConfig
from llr.named.learner import NamedLearner
from llr.named.rows import NamedRows

__all__ = ["NamedConfig", "NamedLearner", "NamedRows"]
