"""The paper's algorithms at 50 digits, slow and literal: the numbers the library is held to.

Every algorithm is written out on its own, as its listing stands in the paper, so that what is
shared here is only what the paper itself shares: the models, the schedule and the memory.

Letters, as in the paper:

    l        log-likelihood of one sample, climbed; a loss is -l
    theta    parameter, a flat list (softmax: classes x features, row-major)
    eta      step size, kept as log eta
    h        approximate derivative of theta with respect to log eta
    g        gradient of l_t at theta_t
    lam      g . h, the derivative of l_t along log eta
    mu, f    the schedule sqrt(t + 2) log(t + 3)
    r        the step really taken: eta / f(t) for SG, eta for SVRG
    n2, d    running average of lam^2 and its normaliser
    b        as a suffix: at the base point of SVRG; s_b the sum of gradients there

R1, R2, ... mark the lines that carry a ruling on the paper's text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from mpmath import MPContext  # type: ignore[import-untyped]

Number: TypeAlias = Any  # an mpf of the context below; mpmath has no types
Vector: TypeAlias = list[Number]
Sample: TypeAlias = tuple[Sequence[Any] | None, Any]  # (x, y); x is None where there is none
Schedule: TypeAlias = Callable[[int], Any]

mp = MPContext()  # a context of its own: nothing else can change its precision
mp.dps = 50

MEMORY_START = 10  # R12: n0, the samples that use plain averages
LEAST_TAU = mp.mpf(1.1)  # R12: at 1 tau would stay for ever
FLOOR = mp.log(mp.mpf(2) ** -1022)  # R24: the least log eta, of float64's least full number


def vector(values: Sequence[Any]) -> Vector:
    """The values as a list of high-precision numbers."""
    return [mp.mpf(v) for v in values]


def dot(a: Vector, b: Vector) -> Number:
    """The inner product, refusing vectors of unequal length."""
    return sum((a_i * b_i for a_i, b_i in zip(a, b, strict=True)), mp.mpf(0))


def f(t: int) -> Number:
    """The schedule sqrt(t + 2) log(t + 3), both f and mu (R1)."""
    return mp.sqrt(t + 2) * mp.log(t + 3)


def held(log_eta: Number, change: Number) -> Number:
    """R24: log eta after this change; at the floor it stays."""
    return log_eta if log_eta <= FLOOR else max(log_eta + change, FLOOR)


# --------------------------------------------------------------------------------- models


class Model(Protocol):
    """One sample's log-likelihood with its exact derivatives in theta."""

    def ell(self, theta: Vector, sample: Sample) -> Number:
        """The log-likelihood l of the sample."""

    def gradient(self, theta: Vector, sample: Sample) -> Vector:
        """The gradient of l."""

    def hessian_times(self, theta: Vector, sample: Sample, v: Vector) -> Vector:
        """The Hessian of l applied to v."""


@dataclass(frozen=True)
class OneScore:
    """A model of the single score s = theta . x, given by l(s, y), l' and l'' in s."""

    value: Callable[[Number, Number], Number]
    first: Callable[[Number, Number], Number]
    second: Callable[[Number, Number], Number]
    constant: bool = False  # x is always 1, whatever the sample holds

    def _read(self, sample: Sample) -> tuple[Vector, Number]:
        x, y = sample
        if self.constant:
            return [mp.mpf(1)], mp.mpf(y)
        if x is None:
            raise ValueError("this model needs features")
        return vector(x), mp.mpf(y)

    def ell(self, theta: Vector, sample: Sample) -> Number:
        """The log-likelihood l(s, y)."""
        x, y = self._read(sample)
        return self.value(dot(theta, x), y)

    def gradient(self, theta: Vector, sample: Sample) -> Vector:
        """The gradient l'(s, y) x."""
        x, y = self._read(sample)
        slope = self.first(dot(theta, x), y)
        return [slope * x_i for x_i in x]

    def hessian_times(self, theta: Vector, sample: Sample, v: Vector) -> Vector:
        """The product l''(s, y) (x . v) x."""
        x, y = self._read(sample)
        bend = self.second(dot(theta, x), y) * dot(x, v)
        return [bend * x_i for x_i in x]


@dataclass(frozen=True)
class Softmax:
    """l = s_y - log sum_k exp s_k with one row of theta per class."""

    classes: int

    def _rows(self, theta: Vector, x: Vector) -> list[Vector]:
        if len(theta) != self.classes * len(x):
            raise ValueError("theta must hold classes x features numbers")
        return [theta[k * len(x) : (k + 1) * len(x)] for k in range(self.classes)]

    def _read(self, theta: Vector, sample: Sample) -> tuple[Vector, int, Vector]:
        features, y = sample
        if features is None:
            raise ValueError("this model needs features")
        x = vector(features)
        return x, int(y), [dot(row, x) for row in self._rows(theta, x)]

    def ell(self, theta: Vector, sample: Sample) -> Number:
        """The log-likelihood s_y - log sum_k exp s_k."""
        _, y, s = self._read(theta, sample)
        top = max(s)
        return s[y] - top - mp.log(sum((mp.exp(s_k - top) for s_k in s), mp.mpf(0)))

    def gradient(self, theta: Vector, sample: Sample) -> Vector:
        """Row k is (1[k = y] - p_k) x; 1 - p_y is summed from the others, to keep its digits."""
        x, y, s = self._read(theta, sample)
        p = probabilities(s)
        others = sum((p_k for k, p_k in enumerate(p) if k != y), mp.mpf(0))
        return [(others if k == y else -p[k]) * x_i for k in range(self.classes) for x_i in x]

    def hessian_times(self, theta: Vector, sample: Sample, v: Vector) -> Vector:
        """Row k is -p_k (u_k - sum_j p_j u_j) x, where u_k = v_k . x."""
        x, _, s = self._read(theta, sample)
        p = probabilities(s)
        u = [dot(row, x) for row in self._rows(v, x)]
        mean = dot(p, u)
        return [-p[k] * (u[k] - mean) * x_i for k in range(self.classes) for x_i in x]


def probabilities(s: Vector) -> Vector:
    """The softmax of the scores."""
    top = max(s)
    weights = [mp.exp(s_k - top) for s_k in s]
    total = sum(weights, mp.mpf(0))
    return [w / total for w in weights]


def sigmoid(s: Number) -> Number:
    """1 / (1 + e^-s)."""
    return 1 / (1 + mp.exp(-s))


def log_one_plus_exp(s: Number) -> Number:
    """log(1 + e^s), keeping its digits at both ends."""
    return mp.log1p(mp.exp(s)) if s <= 0 else s + mp.log1p(mp.exp(-s))


def squares(constant: bool) -> OneScore:
    """l = -(y - s)^2 / 2: the Gaussian (R13) and, with features, the linear model."""
    return OneScore(
        value=lambda s, y: -((y - s) ** 2) / 2,
        first=lambda s, y: y - s,
        second=lambda s, y: mp.mpf(-1),
        constant=constant,
    )


def logit(constant: bool) -> OneScore:
    """l = s y - log(1 + e^s): Bernoulli (R14) and, with features, the logistic model."""
    return OneScore(
        value=lambda s, y: s * y - log_one_plus_exp(s),
        first=lambda s, y: y * sigmoid(-s) - (1 - y) * sigmoid(s),  # y - sigmoid(s)
        second=lambda s, y: -sigmoid(s) * sigmoid(-s),
        constant=constant,
    )


def poisson() -> OneScore:
    """l = y s - e^s, the constant -log y! dropped."""
    return OneScore(
        value=lambda s, y: y * s - mp.exp(s),
        first=lambda s, y: y - mp.exp(s),
        second=lambda s, y: -mp.exp(s),
    )


def quantile(level: Number) -> OneScore:
    """loss = level (y - s) where y > s, else (1 - level)(s - y); slope 0 at the kink."""

    def value(s: Number, y: Number) -> Number:
        return -level * (y - s) if y > s else -(1 - level) * (s - y)

    def first(s: Number, y: Number) -> Number:
        if y > s:
            return level
        return level - 1 if y < s else mp.mpf(0)

    return OneScore(value, first, second=lambda s, y: mp.mpf(0))


def huber(delta: Number) -> OneScore:
    """loss = r^2 / 2 where |r| <= delta, else delta (|r| - delta / 2), with r = y - s."""

    def value(s: Number, y: Number) -> Number:
        r = abs(y - s)
        return -(r**2) / 2 if r <= delta else -delta * (r - delta / 2)

    def first(s: Number, y: Number) -> Number:
        r = y - s
        if abs(r) <= delta:
            return r
        return delta if r > 0 else -delta

    def second(s: Number, y: Number) -> Number:
        return mp.mpf(-1) if abs(y - s) <= delta else mp.mpf(0)

    return OneScore(value, first, second)


def make_model(name: str, parameter: Any = None, classes: int | None = None) -> Model:
    """The model of that name; quantile and huber need parameter, softmax needs classes."""
    if name == "softmax":
        if classes is None:
            raise ValueError("softmax needs classes")
        return Softmax(classes)
    if name in ("quantile", "huber"):
        if parameter is None:
            raise ValueError(f"{name} needs parameter")
        return {"quantile": quantile, "huber": huber}[name](mp.mpf(parameter))
    plain: dict[str, OneScore] = {
        "gaussian": squares(constant=True),
        "bernoulli": logit(constant=True),
        "linear": squares(constant=False),
        "logistic": logit(constant=False),
        "poisson": poisson(),
    }
    if name not in plain:
        raise ValueError(f"no model is called {name!r}")
    return plain[name]


# ----------------------------------------------------------------------------- algorithms


class Record(NamedTuple):
    """The state after one sample, and the loss summed so far, each term before learning."""

    theta: Vector
    h: Vector | None
    log_eta: Number
    loss: Number


@dataclass(frozen=True)
class Problem:
    """What a run is given: the model, the data, the start and the options."""

    model: Model
    samples: Sequence[Sample]
    theta0: Vector
    eta0: Number
    schedule: Schedule
    mu: Schedule | None = None  # R1: the schedule as well, unless given
    exact: bool = False  # R6: the Hessian of Proposition 1 in place of the shifted gradient
    memory: bool = False  # R12
    unbiased: bool = False  # R3: the other reading
    refresh: int | None = None  # R7: samples between two base points


class Memory:
    """Section 4.3: tau, the number of samples in recent memory, one for the whole vector (R12)."""

    def __init__(self, size: int) -> None:
        self.seen = 0
        self.tau: Number = mp.mpf(0)
        self.g_bar: Vector = [mp.mpf(0)] * size
        self.v_bar: Vector = [mp.mpf(0)] * size

    def gamma(self, g: Vector) -> Number:
        """Take in the gradient g and return gamma_{t+1} = exp(-1 / tau)."""
        self.seen += 1
        if self.seen <= MEMORY_START:  # R12: plain averages, leaving tau = n0
            self.tau = mp.mpf(self.seen)
            self._average(g)
        else:
            self._average(g)  # at rate 1 / tau, the old tau
            total = sum(self.v_bar, mp.mpf(0))
            ratio = dot(self.g_bar, self.g_bar) / total if total != 0 else mp.mpf(0)
            self.tau = max((1 - ratio) * self.tau + 1, LEAST_TAU)
        return mp.exp(-1 / self.tau)

    def _average(self, g: Vector) -> None:
        keep = 1 - 1 / self.tau
        size = range(len(g))
        self.g_bar = [keep * self.g_bar[i] + g[i] / self.tau for i in size]
        self.v_bar = [keep * self.v_bar[i] + g[i] ** 2 / self.tau for i in size]


def sg(p: Problem) -> list[Record]:
    """Section 1, Stochastic Gradient: theta + eta / f(t) g."""
    theta, eta, loss = p.theta0, p.eta0, mp.mpf(0)
    records = []
    for t, sample in enumerate(p.samples):  # R1: t starts at 0
        loss -= p.model.ell(theta, sample)
        g = p.model.gradient(theta, sample)
        theta = [theta[i] + eta / mp.mpf(p.schedule(t)) * g[i] for i in range(len(theta))]
        records.append(Record(theta, None, mp.log(eta), loss))  # R19: shows eta_0
    return records


def svrg(p: Problem) -> list[Record]:
    """Appendix A, SVRG online: theta + eta (g - g_b + s_b / (t + 1)), eta undamped (R7)."""
    theta, eta, loss = p.theta0, p.eta0, mp.mpf(0)
    size = range(len(theta))
    theta_b = [mp.mpf(0) for _ in size]  # R7: the zero vector, not theta_0
    s_b = [mp.mpf(0) for _ in size]
    count = 0
    records = []
    for t, sample in enumerate(p.samples):
        loss -= p.model.ell(theta, sample)
        if p.refresh is not None and t > 0 and t % p.refresh == 0:  # R7: the option
            theta_b, s_b, count = theta, [mp.mpf(0) for _ in size], 0
        count += 1  # t + 1 without refresh
        g = p.model.gradient(theta, sample)
        g_b = p.model.gradient(theta_b, sample)  # R8: at theta_b, not theta_s
        s_b = [s_b[i] + g_b[i] for i in size]
        theta = [theta[i] + eta * (g[i] - g_b[i] + s_b[i] / count) for i in size]
        records.append(Record(theta, None, mp.log(eta), loss))  # R19: shows eta_0
    return records


def sg_sg(p: Problem) -> list[Record]:
    """Section 2.2, Algorithm SG/SG."""
    theta, log_eta, loss = p.theta0, mp.log(p.eta0), mp.mpf(0)
    size = range(len(theta))
    h = [mp.mpf(0) for _ in size]
    past = Memory(len(theta))
    records = []
    for t, sample in enumerate(p.samples):
        loss -= p.model.ell(theta, sample)
        mu = mp.mpf((p.mu or p.schedule)(t))
        g = p.model.gradient(theta, sample)
        log_eta = held(log_eta, dot(g, h) / mu)  # R5: eta first; R9: /sg adds lam / mu
        r = mp.exp(log_eta) / mp.mpf(p.schedule(t))  # R1
        gamma = past.gamma(g) if p.memory else mp.mpf(1)  # R12
        if p.exact:  # R6: Proposition 1
            bend = p.model.hessian_times(theta, sample, h)
            h_next = [gamma * (h[i] + r * g[i] + r * bend[i]) for i in size]
        else:
            shifted = p.model.gradient([theta[i] + h[i] for i in size], sample)
            h_next = [gamma * (h[i] + r * shifted[i]) for i in size]
        theta = [theta[i] + r * g[i] for i in size]  # R5: from the old theta and h
        h = h_next
        records.append(Record(theta, h, log_eta, loss))
    return records


def sg_ag(p: Problem) -> list[Record]:
    """Section 2.3, Algorithm SG/AG."""
    theta, log_eta, loss = p.theta0, mp.log(p.eta0), mp.mpf(0)
    size = range(len(theta))
    h = [mp.mpf(0) for _ in size]
    n2, d = mp.mpf(0), mp.mpf(0)
    past = Memory(len(theta))
    records = []
    for t, sample in enumerate(p.samples):
        loss -= p.model.ell(theta, sample)
        mu = mp.mpf((p.mu or p.schedule)(t))
        g = p.model.gradient(theta, sample)
        lam = dot(g, h)  # R2: the gradient, not l itself
        d = (1 - 1 / mu) * d + 1 / mu
        if p.unbiased:  # R3: n2 stays the raw average, divided only at use
            n2 = (1 - 1 / mu) * n2 + lam**2 / mu
            n = mp.sqrt(n2 / d)
        else:  # R3: as printed, the divided n2 is fed back
            n2 = ((1 - 1 / mu) * n2 + lam**2 / mu) / d
            n = mp.sqrt(n2)
        if n != 0:  # R4
            log_eta = held(log_eta, lam / n / mu)  # R9: /ag adds lam / (n mu)
        r = mp.exp(log_eta) / mp.mpf(p.schedule(t))  # R1
        gamma = past.gamma(g) if p.memory else mp.mpf(1)  # R12
        if p.exact:  # R6
            bend = p.model.hessian_times(theta, sample, h)
            h_next = [gamma * (h[i] + r * g[i] + r * bend[i]) for i in size]
        else:
            shifted = p.model.gradient([theta[i] + h[i] for i in size], sample)
            h_next = [gamma * (h[i] + r * shifted[i]) for i in size]
        theta = [theta[i] + r * g[i] for i in size]  # R5
        h = h_next
        records.append(Record(theta, h, log_eta, loss))
    return records


def svrg_sg(p: Problem) -> list[Record]:
    """Appendix A, SVRG with log eta moved by lam / mu (R9)."""
    theta, log_eta, loss = p.theta0, mp.log(p.eta0), mp.mpf(0)  # R10: eta_0 is given
    size = range(len(theta))
    theta_b = [mp.mpf(0) for _ in size]  # R7: the zero vector, not theta_0
    s_b = [mp.mpf(0) for _ in size]
    count = 0
    h = [mp.mpf(0) for _ in size]
    past = Memory(len(theta))
    records = []
    for t, sample in enumerate(p.samples):
        loss -= p.model.ell(theta, sample)
        if p.refresh is not None and t > 0 and t % p.refresh == 0:  # R7: the option
            theta_b, s_b, count = theta, [mp.mpf(0) for _ in size], 0
        count += 1
        mu = mp.mpf((p.mu or p.schedule)(t))
        g = p.model.gradient(theta, sample)
        log_eta = held(log_eta, dot(g, h) / mu)  # R5, R9
        r = mp.exp(log_eta)  # R7: undamped
        g_b = p.model.gradient(theta_b, sample)  # R8
        s_b = [s_b[i] + g_b[i] for i in size]
        gamma = past.gamma(g) if p.memory else mp.mpf(1)  # R12
        if p.exact:  # R6
            bend = p.model.hessian_times(theta, sample, h)
            h_next = [
                gamma * (h[i] + r * (g[i] - g_b[i] + s_b[i] / count) + r * bend[i]) for i in size
            ]
        else:
            shifted = p.model.gradient([theta[i] + h[i] for i in size], sample)
            h_next = [gamma * (h[i] + r * (shifted[i] - g_b[i] + s_b[i] / count)) for i in size]
        theta = [theta[i] + r * (g[i] - g_b[i] + s_b[i] / count) for i in size]  # R5
        h = h_next
        records.append(Record(theta, h, log_eta, loss))
    return records


def svrg_ag(p: Problem) -> list[Record]:
    """Appendix A, Algorithm SVRG/AG."""
    theta, log_eta, loss = p.theta0, mp.log(p.eta0), mp.mpf(0)  # R10: eta_0 is given
    size = range(len(theta))
    theta_b = [mp.mpf(0) for _ in size]  # R7: the zero vector, not theta_0
    s_b = [mp.mpf(0) for _ in size]
    count = 0
    h = [mp.mpf(0) for _ in size]
    n2, d = mp.mpf(0), mp.mpf(0)
    past = Memory(len(theta))
    records = []
    for t, sample in enumerate(p.samples):
        loss -= p.model.ell(theta, sample)
        if p.refresh is not None and t > 0 and t % p.refresh == 0:  # R7: the option
            theta_b, s_b, count = theta, [mp.mpf(0) for _ in size], 0
        count += 1
        mu = mp.mpf((p.mu or p.schedule)(t))
        g = p.model.gradient(theta, sample)
        lam = dot(g, h)
        d = (1 - 1 / mu) * d + 1 / mu
        if p.unbiased:  # R3: the other reading
            n2 = (1 - 1 / mu) * n2 + lam**2 / mu
            n = mp.sqrt(n2 / d)
        else:  # R3: as printed
            n2 = ((1 - 1 / mu) * n2 + lam**2 / mu) / d
            n = mp.sqrt(n2)
        if n != 0:  # R4
            log_eta = held(log_eta, lam / n / mu)  # R9
        r = mp.exp(log_eta)  # R7: undamped
        g_b = p.model.gradient(theta_b, sample)  # R8
        s_b = [s_b[i] + g_b[i] for i in size]
        gamma = past.gamma(g) if p.memory else mp.mpf(1)  # R12
        if p.exact:  # R6
            bend = p.model.hessian_times(theta, sample, h)
            h_next = [
                gamma * (h[i] + r * (g[i] - g_b[i] + s_b[i] / count) + r * bend[i]) for i in size
            ]
        else:
            shifted = p.model.gradient([theta[i] + h[i] for i in size], sample)
            h_next = [gamma * (h[i] + r * (shifted[i] - g_b[i] + s_b[i] / count)) for i in size]
        theta = [theta[i] + r * (g[i] - g_b[i] + s_b[i] / count) for i in size]  # R5
        h = h_next
        records.append(Record(theta, h, log_eta, loss))
    return records


ALGORITHMS: dict[str, Callable[[Problem], list[Record]]] = {
    "sg": sg,
    "svrg": svrg,
    "sg/sg": sg_sg,
    "sg/ag": sg_ag,
    "svrg/sg": svrg_sg,
    "svrg/ag": svrg_ag,
}


def run(
    model: str,
    algorithm: str,
    samples: Sequence[Sample],
    theta0: Sequence[Any],
    eta0: Any,
    *,
    hessian: str | None = None,
    memory: bool = False,
    unbiased: bool = False,
    refresh: int | None = None,
    parameter: Any = None,
    classes: int | None = None,
    schedule: Schedule | tuple[Schedule, Schedule] | None = None,
) -> list[Record]:
    """Learn the samples in order and return one record per sample.

    An option the algorithm has no use for is an error: a test that passes one is mistaken.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(f"no algorithm is called {algorithm!r}")
    if hessian not in (None, "exact", "difference"):
        raise ValueError("hessian is None, 'exact' or 'difference'")
    if (hessian is not None or memory) and "/" not in algorithm:
        raise ValueError("a fixed step has no h to update")
    if unbiased and not algorithm.endswith("/ag"):
        raise ValueError("only the /ag algorithms average lam^2")
    if refresh is not None and (refresh < 1 or not algorithm.startswith("svrg")):
        raise ValueError("refresh is a positive number, for svrg only")
    damping, mu = schedule if isinstance(schedule, tuple) else (schedule or f, None)
    problem = Problem(
        model=make_model(model, parameter, classes),
        samples=samples,
        theta0=vector(theta0),
        eta0=mp.mpf(eta0),
        schedule=damping,
        mu=mu,
        exact=hessian == "exact" or (hessian is None and memory),  # R6, R12: the defaults
        memory=memory,
        unbiased=unbiased,
        refresh=refresh,
    )
    return ALGORITHMS[algorithm](problem)


# ---------------------------------------------------------------------------- comparators


def ml_losses(model: str, samples: Sequence[Sample], theta0: Sequence[Any]) -> Vector | None:
    """Each sample's loss at the maximum likelihood of the samples before it (R17)."""
    if model == "gaussian":
        return [_gaussian_ml_loss(samples, t, mp.mpf(theta0[0])) for t in range(len(samples))]
    if model == "bernoulli":
        return [_bernoulli_ml_loss(samples, t) for t in range(len(samples))]
    if model == "linear":
        return [_linear_ml_loss(samples, t, vector(theta0)) for t in range(len(samples))]
    return None  # R18: null, never guessed


def _gaussian_ml_loss(samples: Sequence[Sample], t: int, theta0: Number) -> Number:
    past = [mp.mpf(y) for _, y in samples[:t]]
    theta = sum(past, mp.mpf(0)) / t if t > 0 else theta0  # R17
    return -make_model("gaussian").ell([theta], samples[t])


def _bernoulli_ml_loss(samples: Sequence[Sample], t: int) -> Number:
    ones = sum((mp.mpf(y) for _, y in samples[:t]), mp.mpf(0))
    p = (ones + mp.mpf(1) / 2) / (t + 1)  # R17
    return -make_model("bernoulli").ell([mp.log(p / (1 - p))], samples[t])


def _linear_ml_loss(samples: Sequence[Sample], t: int, theta0: Vector) -> Number:
    ridge = mp.mpf("1e-6")  # R17: pulls to theta_0
    a, b = _normal_equations(samples[:t], len(theta0))
    for i in range(len(theta0)):
        a[i][i] += ridge
        b[i] += ridge * theta0[i]
    theta = list(mp.lu_solve(mp.matrix(a), mp.matrix(b)))
    return -make_model("linear").ell(theta, samples[t])


def best_fixed_loss(model: str, samples: Sequence[Sample]) -> Number | None:
    """The least loss a single theta can reach over all the samples (R18)."""
    if model == "gaussian":
        ys = [mp.mpf(y) for _, y in samples]
        mean = sum(ys, mp.mpf(0)) / max(len(ys), 1)
        return sum(((y - mean) ** 2 for y in ys), mp.mpf(0)) / 2
    if model == "bernoulli":
        ones = sum((mp.mpf(y) for _, y in samples), mp.mpf(0))
        zeros = len(samples) - ones
        return -sum((k * mp.log(k / len(samples)) for k in (ones, zeros) if k > 0), mp.mpf(0))
    if model == "linear":
        return _least_squares_loss(samples)
    return None  # R18: null, never guessed


def _normal_equations(samples: Sequence[Sample], size: int) -> tuple[list[Vector], Vector]:
    """The matrix sum x x^T and the vector sum x y."""
    a = [[mp.mpf(0) for _ in range(size)] for _ in range(size)]
    b = [mp.mpf(0) for _ in range(size)]
    for features, y in samples:
        x = vector(() if features is None else features)
        for i in range(size):
            b[i] += x[i] * mp.mpf(y)
            for j in range(size):
                a[i][j] += x[i] * x[j]
    return a, b


def _least_squares_loss(samples: Sequence[Sample]) -> Number:
    """Half the least sum of squares, whatever the rank, worked out at 80 digits or more."""
    if not samples:
        return mp.mpf(0)
    with mp.workdps(max(80, mp.dps)):
        x = samples[0][0]
        a, b = _normal_equations(samples, 0 if x is None else len(x))
        theta = _solve_dropping(a, b, mp.mpf("1e-55"))
        linear = make_model("linear")
        total = -sum((linear.ell(theta, sample) for sample in samples), mp.mpf(0))
    return +total


def _solve_dropping(a: list[Vector], b: Vector, tiny: Number) -> Vector:
    """Solve a theta = b for a >= 0; a pivot below tiny times its first value sets theta_i = 0.

    Gauss-Jordan with the pivot always taken where the diagonal has kept most of itself.
    """
    size = range(len(b))
    first = [a[i][i] for i in size]
    left = {i for i in size if first[i] > 0}
    done: list[int] = []
    while left:
        k = max(left, key=lambda i: a[i][i] / first[i])
        if a[k][k] <= tiny * first[k]:
            break
        left.remove(k)
        done.append(k)
        for i in size:
            if i != k:
                factor = a[i][k] / a[k][k]
                a[i] = [a[i][j] - factor * a[k][j] for j in size]
                b[i] -= factor * b[k]
    return [b[i] / a[i][i] if i in done else mp.mpf(0) for i in size]


def regret_ml(
    model: str, samples: Sequence[Sample], theta0: Sequence[Any], records: Sequence[Record]
) -> Vector | None:
    """After each sample, sum of l_s at theta^ML_s minus l_s at theta_s (R18), or None."""
    losses = ml_losses(model, samples, theta0)
    if losses is None:
        return None
    regrets, total = [], mp.mpf(0)
    for loss, record in zip(losses, records, strict=True):
        total += loss
        regrets.append(record.loss - total)
    return regrets


def regret_best_fixed(
    model: str, samples: Sequence[Sample], records: Sequence[Record]
) -> Number | None:
    """After all the samples, max over theta of sum l_s minus sum of l_s at theta_s (R18)."""
    best = best_fixed_loss(model, samples)
    return None if best is None else records[-1].loss - best


# -------------------------------------------------------------------------------- Lemma 1


class Sensitivity(NamedTuple):
    """theta_{t+1}, A_{t+1} = d theta_{t+1} / d log eta, and d(loss up to t) / d log eta."""

    theta: Vector
    a: Vector
    dloss: Number


def lemma1(
    model: str,
    samples: Sequence[Sample],
    theta0: Sequence[Any],
    eta: Any,
    *,
    parameter: Any = None,
    classes: int | None = None,
    schedule: Schedule | None = None,
    shifted: bool = False,
) -> list[Sensitivity]:
    """Lemma 1: the exact derivatives of plain SG with respect to its fixed log eta.

    With `shifted`, the approximation printed below it: the gradient at theta + A in their place.
    """
    m = make_model(model, parameter, classes)
    theta, eta, dloss = vector(theta0), mp.mpf(eta), mp.mpf(0)
    a = [mp.mpf(0) for _ in theta]
    out = []
    for t, sample in enumerate(samples):
        r = eta / mp.mpf((schedule or f)(t))
        g = m.gradient(theta, sample)
        bend = m.hessian_times(theta, sample, a)
        dloss -= dot(g, a)
        if shifted:
            there = m.gradient([theta[i] + a[i] for i in range(len(a))], sample)
            a = [a[i] + r * there[i] for i in range(len(a))]
        else:
            a = [a[i] + r * g[i] + r * bend[i] for i in range(len(a))]
        theta = [theta[i] + r * g[i] for i in range(len(theta))]
        out.append(Sensitivity(theta, a, dloss))
    return out
