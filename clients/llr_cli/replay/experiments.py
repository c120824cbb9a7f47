"""Every experiment of the paper: a stream, an algorithm, a first step size, a number of samples.

The three streams are learnt by four algorithms from seven decades of η_0; SG and SVRG are also
tuned by hand, that is tried on steps between the decades; the quadratic starts from 1e−4 (R16).

>>> every = paper(seed=0)
>>> len(every), every[0].name, every[-1].name
(160, 'paper-gaussian-sg-1e-5', 'paper-quadratic-svrg-ag-1e-4')
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from llr.streams import STREAMS, Samples, Stream

SAMPLES = {"gaussian": 2500, "bernoulli": 2500, "regression": 7500, "quadratic": 500}
MODELS = ("gaussian", "bernoulli", "regression")
FIXED = ("sg", "svrg")
LEARNT = ("sg/ag", "svrg/ag")
AUTO = "auto"
DECADES = tuple(float(f"1e{k}") for k in range(-5, 2))
BETWEEN = tuple(float(f"{m}e{k}") for k in range(-5, 1) for m in (2, 5))
STEEP = 1e-4
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Experiment:
    """One session to be.

    Attributes:
        stream: a name from `llr.streams.STREAMS`.
        algorithm: who learns it.
        eta0: the first step size; None for an algorithm that needs none.
        samples: how many are fed.
        seed: where the stream's random numbers start.
    """

    stream: str
    algorithm: str
    eta0: float | None
    samples: int
    seed: int = 0

    @property
    def name(self) -> str:
        """The session's name.

        >>> Experiment("gaussian", "sg/ag", 1e-3, 2500, seed=7).name
        'paper-gaussian-sg-ag-1e-3-seed7'
        """
        words = ["paper", self.stream, self.algorithm.replace("/", "-")]
        words += [] if self.eta0 is None else [digits(self.eta0)]
        return "-".join(words + ([f"seed{self.seed}"] if self.seed else []))

    @property
    def producer(self) -> str:
        """The clients that send the samples; another stream or seed is another producer."""
        return f"replay:{self.stream}:{self.seed}"

    @property
    def model(self) -> str:
        """The model its stream is meant for."""
        return self.source().model

    @property
    def config(self) -> dict[str, Any]:
        """The session's config, with the regret that the figures show."""
        stream = self.source()
        dim = {"dim": stream.dim} if stream.model == "linear" else {}
        eta0 = {} if self.eta0 is None else {"eta0": self.eta0}
        start = {"theta0": stream.theta0} if stream.theta0 else {}
        return {
            "model": stream.model,
            **dim,
            "algorithm": self.algorithm,
            **eta0,
            **start,
            "regret": "exact",
        }

    def of_length(self, samples: int) -> "Experiment":
        """The same with another number of samples."""
        return replace(self, samples=samples)

    def source(self) -> Stream:
        """The stream from its beginning."""
        return STREAMS[self.stream](self.seed)


def paper(seed: int = 0, auto: bool = False) -> list[Experiment]:
    """All of them; with `auto`, that too, which needs no step size."""
    found = []
    for stream in MODELS:
        for algorithm in (*FIXED, *LEARNT):
            tuned = BETWEEN if algorithm in FIXED else ()
            found += _ladder(stream, algorithm, sorted((*DECADES, *tuned)), seed)
        found += _ladder(stream, AUTO, [None] if auto else [], seed)
    for algorithm in (*FIXED, *LEARNT):
        found += _ladder("quadratic", algorithm, [STEEP], seed)
    return found


def _ladder(
    stream: str, algorithm: str, steps: Iterable[float | None], seed: int
) -> list[Experiment]:
    return [Experiment(stream, algorithm, eta0, SAMPLES[stream], seed) for eta0 in steps]


@lru_cache(maxsize=8)
def samples(stream: str, seed: int, n: int) -> Samples:
    """The first n samples of a stream as columns; many experiments learn the same."""
    return STREAMS[stream](seed).take(n)


def digits(x: float) -> str:
    """A step size as short as it can be written without a plus sign.

    >>> [digits(x) for x in (1e-5, 0.02, 1.0, 10.0, 0.125)]
    ['1e-5', '2e-2', '1e0', '1e1', '1.25e-1']
    """
    return np.format_float_scientific(x, trim="-", exp_digits=1).replace("+", "")


def power(x: float) -> str:
    """A step size as mathematics.

    >>> [power(x) for x in (1e-3, 0.02, 1.0, 10.0)]
    ['10⁻³', '2·10⁻²', '1', '10']
    """
    mantissa, _, exponent = digits(x).partition("e")
    if exponent in ("0", "1"):
        return f"{x:g}"
    ten = "10" + exponent.translate(SUPERSCRIPT)
    return ten if mantissa == "1" else f"{mantissa}·{ten}"


def shown(stream: Stream, theta: Any) -> Any:
    """What the paper shows of θ: itself, or the first entry of θᵀM (R15); of one θ, or of rows."""
    theta = np.asarray(theta, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # θ may be as large as float64 goes
        return theta[..., 0] if stream.mixing is None else theta @ stream.mixing[:, 0]
