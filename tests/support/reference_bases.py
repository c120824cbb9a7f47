"""The bases beyond the paper's at 50 digits, slow and literal, with the paper's rates on top.

As in `reference`, what is shared is what the formulas share: the models, the memory, and here the
rate, since these bases differ in how theta moves and not in how log eta does. Tangents are written
out by the chain rule through all that a base remembers (Appendix B), where the derivative of a
gradient along h is its Hessian product or, by R6, its difference between theta + h and theta.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from support.reference import (
    Memory,
    Model,
    Number,
    OneScore,
    Problem,
    Record,
    Sample,
    Softmax,
    Vector,
    dot,
    held,
    make_model,
    mp,
    vector,
)
from support.reference import f as paper_f


class Rate:
    """log eta, and how it moves: not at all, by lam / mu, or by lam / (n mu) (R3, R4, R9)."""

    def __init__(self, kind: str | None, p: Problem) -> None:
        self.kind, self.unbiased = kind, p.unbiased
        self.log_eta: Number = mp.log(p.eta0)
        self.n2, self.d = mp.mpf(0), mp.mpf(0)

    def move(self, lam: Number, mu: Number) -> Number:
        """Take in lam and return the new eta (R5)."""
        if self.kind == "sg":
            self.log_eta = held(self.log_eta, lam / mu)
        if self.kind == "ag":
            self.d = (1 - 1 / mu) * self.d + 1 / mu
            raw = (1 - 1 / mu) * self.n2 + lam**2 / mu
            self.n2 = raw if self.unbiased else raw / self.d
            n = mp.sqrt(raw / self.d)
            if n != 0:
                self.log_eta = held(self.log_eta, lam / n / mu)
        return mp.exp(self.log_eta)


def zeros(size: int) -> Vector:
    return [mp.mpf(0) for _ in range(size)]


def gradient_along(p: Problem, theta: Vector, h: Vector, sample: Sample) -> Vector:
    """The derivative of the gradient along h: exact, or a difference (R6, R20)."""
    if p.exact:
        return p.model.hessian_times(theta, sample, h)
    shifted = p.model.gradient([a + b for a, b in zip(theta, h, strict=True)], sample)
    return [a - b for a, b in zip(shifted, p.model.gradient(theta, sample), strict=True)]


# ------------------------------------------------------------------------------------ isg


def implicit_step(model: Model, theta: Vector, sample: Sample, r: Number) -> Vector:
    """The d with d = r grad l(theta + d), by Newton's steps on all of theta, halved as needed."""
    size = len(theta)

    def miss(d: Vector) -> Vector:
        g = model.gradient([a + b for a, b in zip(theta, d, strict=True)], sample)
        return [d[i] - r * g[i] for i in range(size)]

    d = zeros(size)
    for _ in range(200):
        m = miss(d)
        point = [a + b for a, b in zip(theta, d, strict=True)]
        columns = [model.hessian_times(point, sample, unit(i, size)) for i in range(size)]
        a = mp.matrix([[(i == j) - r * columns[j][i] for j in range(size)] for i in range(size)])
        step = list(mp.lu_solve(a, mp.matrix(m)))
        scale, before = mp.mpf(1), dot(m, m)
        while scale > mp.mpf("1e-30"):
            trial = [d[i] - scale * step[i] for i in range(size)]
            after = miss(trial)
            if dot(after, after) <= before:
                break
            scale /= 2
        d = trial
        if max(abs(s) for s in step) <= mp.mpf("1e-45"):
            break
    return d


def unit(i: int, size: int) -> Vector:
    return [mp.mpf(i == j) for j in range(size)]


def quantile_step(level: Number, theta: Vector, sample: Sample, r: Number) -> tuple[Vector, bool]:
    """Up to the label and no further; whether it was reached."""
    x, y = vector(sample[0] or []), mp.mpf(sample[1])
    q, gap = dot(x, x), y - dot(theta, x)
    k = r * (level if gap > 0 else level - 1 if gap < 0 else 0)
    held = abs(k) * q >= abs(gap)
    return [(gap / q if held else k) * x_i for x_i in x], held


def isg(p: Problem, kind: str | None, level: Number | None = None, **_: Any) -> list[Record]:
    """theta' = theta + r grad l(theta'), r = eta / f(t); h' = h + r grad l(theta' + h')."""
    theta, h, loss = p.theta0, zeros(len(p.theta0)), mp.mpf(0)
    size, rate, past, records = range(len(theta)), Rate(kind, p), Memory(len(theta)), []

    def solve(at: Vector, sample: Sample, r: Number) -> tuple[Vector, bool]:
        if level is not None:
            return quantile_step(level, at, sample, r)
        return implicit_step(p.model, at, sample, r), False

    for t, sample in enumerate(p.samples):
        loss -= p.model.ell(theta, sample)
        mu = mp.mpf(p.schedule(t))
        g = p.model.gradient(theta, sample)
        r = rate.move(dot(g, h), mu) / mu
        gamma = past.gamma(g) if p.memory else mp.mpf(1)
        d, held = solve(theta, sample, r)
        end = [theta[i] + d[i] for i in size]
        if kind and p.exact:
            h = [gamma * v for v in _exact_implicit(p, sample, r, theta, h, d, held)]
        elif kind:
            dh = solve([end[i] + h[i] for i in size], sample, r)[0]
            h = [gamma * (h[i] + dh[i]) for i in size]
        theta = end
        records.append(Record(theta, h if kind else None, rate.log_eta, loss))
    return records


def _exact_implicit(
    p: Problem, sample: Sample, r: Number, theta: Vector, h: Vector, d: Vector, held: bool
) -> Vector:
    """h' = h + d + r H(theta') h', solved for h'; at a kink the score stays where it is."""
    size = range(len(theta))
    if held:
        x = vector(sample[0] or [])
        back = dot(x, h) / dot(x, x)
        return [h[i] - back * x[i] for i in size]
    end = [theta[i] + d[i] for i in size]
    columns = [p.model.hessian_times(end, sample, unit(i, len(theta))) for i in size]
    a = mp.matrix([[(i == j) - r * columns[j][i] for j in size] for i in size])
    return list(mp.lu_solve(a, mp.matrix([h[i] + d[i] for i in size])))


# -------------------------------------------------------------------------------- adagrad


def adagrad(p: Problem, kind: str | None, **_: Any) -> list[Record]:
    """theta_i + eta g_i / sqrt(G_i), where G_i sums g_i^2, the present one included."""
    theta, loss = p.theta0, mp.mpf(0)
    size, rate, past, records = range(len(theta)), Rate(kind, p), Memory(len(theta)), []
    h, big, dbig = zeros(len(theta)), zeros(len(theta)), zeros(len(theta))
    for t, sample in enumerate(p.samples):
        loss -= p.model.ell(theta, sample)
        g = p.model.gradient(theta, sample)
        eta = rate.move(dot(g, h), mp.mpf(p.schedule(t)))
        dg = gradient_along(p, theta, h, sample)
        gamma = past.gamma(g) if p.memory else mp.mpf(1)
        big = [big[i] + g[i] ** 2 for i in size]
        dbig = [gamma * (dbig[i] + 2 * g[i] * dg[i]) for i in size]
        for i in size:
            if big[i] == 0:
                h[i] *= gamma
                continue
            root = mp.sqrt(big[i])
            turn = (g[i] + dg[i]) / root - g[i] * dbig[i] / (2 * big[i] * root)
            h[i] = gamma * (h[i] + eta * turn)
        steps = [eta * g[i] / mp.sqrt(big[i]) if big[i] != 0 else mp.mpf(0) for i in size]
        theta = [theta[i] + steps[i] for i in size]
        records.append(Record(theta, list(h) if kind else None, rate.log_eta, loss))
    return records


# ------------------------------------------------------------------------------- momentum


def momentum(p: Problem, kind: str | None, beta: Any = 0.9, **_: Any) -> list[Record]:
    """theta' = theta + r g + beta (theta - theta before), r = eta / f(t)."""
    theta, loss, b = p.theta0, mp.mpf(0), mp.mpf(beta)
    size, rate, past, records = range(len(theta)), Rate(kind, p), Memory(len(theta)), []
    h, before = zeros(len(theta)), theta
    dv = zeros(len(theta))  # the tangent of theta - before
    for t, sample in enumerate(p.samples):
        loss -= p.model.ell(theta, sample)
        mu = mp.mpf(p.schedule(t))
        g = p.model.gradient(theta, sample)
        r = rate.move(dot(g, h), mu) / mu
        dg = gradient_along(p, theta, h, sample)
        gamma = past.gamma(g) if p.memory else mp.mpf(1)
        dv = [gamma * (b * dv[i] + r * (g[i] + dg[i])) for i in size]
        h = [gamma * h[i] + dv[i] for i in size]
        after = [theta[i] + r * g[i] + b * (theta[i] - before[i]) for i in size]
        theta, before = after, theta
        records.append(Record(theta, h if kind else None, rate.log_eta, loss))
    return records


# ----------------------------------------------------------------------------------- saga


def saga(
    p: Problem, kind: str | None, table: int = 32, average: bool = False, **_: Any
) -> list[Record]:
    """The last samples with the gradients last seen of them; one is seen again (R21).

    SAG goes along the `average` of the gradients, the one seen again among them.
    """
    theta, loss = p.theta0, mp.mpf(0)
    size, rate, past, records = range(len(theta)), Rate(kind, p), Memory(len(theta)), []
    h = zeros(len(theta))
    kept: list[tuple[Sample, Vector, Vector]] = []  # oldest first: sample, gradient, tangent
    for t, sample in enumerate(p.samples):
        loss -= p.model.ell(theta, sample)
        g = p.model.gradient(theta, sample)
        eta = rate.move(dot(g, h), mp.mpf(p.schedule(t)))
        gamma = past.gamma(g) if p.memory else mp.mpf(1)
        kept = [*kept, (sample, g, gradient_along(p, theta, h, sample))][-table:]
        n = len(kept)
        j = n - 1 - n // 2  # the one that came n // 2 samples ago
        again, old, dold = kept[j]
        now, dnow = p.model.gradient(theta, again), gradient_along(p, theta, h, again)
        if average:
            kept[j] = (again, now, dnow)
            old, dold = now, dnow
        mean = [sum((one[1][i] for one in kept), mp.mpf(0)) / n for i in size]
        dmean = [sum((one[2][i] for one in kept), mp.mpf(0)) / n for i in size]
        step = [now[i] - old[i] + mean[i] for i in size]
        dstep = [dnow[i] - dold[i] + dmean[i] for i in size]
        h = [gamma * (h[i] + eta * (step[i] + dstep[i])) for i in size]
        theta = [theta[i] + eta * step[i] for i in size]
        kept[j] = (again, now, dnow)
        kept = [(s, a, [gamma * v for v in b]) for s, a, b in kept]
        records.append(Record(theta, h if kind else None, rate.log_eta, loss))
    return records


def sag(p: Problem, kind: str | None, table: int = 32, **_: Any) -> list[Record]:
    """SAG with the table of SAGA."""
    return saga(p, kind, table, average=True)


# ----------------------------------------------------------------------------------- vsgd


def vsgd(p: Problem, kind: str | None, features: int = 1, **_: Any) -> list[Record]:
    """Schaul, Zhang and LeCun: eta_i = mean(g_i)^2 / (mean(curvature_i) mean(g_i^2)) (R22)."""
    theta, loss, log_eta = p.theta0, mp.mpf(0), mp.log(p.eta0)
    size, records = range(len(theta)), []
    first: list[tuple[Vector, Vector]] = []
    g_bar, v_bar, k_bar, tau = zeros(len(theta)), zeros(len(theta)), zeros(len(theta)), []
    for t, sample in enumerate(p.samples):
        loss -= p.model.ell(theta, sample)
        g = p.model.gradient(theta, sample)
        bend = [-p.model.hessian_times(theta, sample, unit(i, len(theta)))[i] for i in size]
        if t < 10:
            first.append((g, bend))
            if t == 9:
                c = max(mp.mpf(1), mp.mpf(features) / 10)
                g_bar = [sum(one[0][i] for one in first) / 10 for i in size]
                v_bar = [c * sum(one[0][i] ** 2 for one in first) / 10 for i in size]
                k_bar = [c * sum(one[1][i] for one in first) / 10 for i in size]
                tau = [mp.mpf(11) for _ in size]
        else:
            for i in size:
                g_bar[i] += (g[i] - g_bar[i]) / tau[i]
                v_bar[i] += (g[i] ** 2 - v_bar[i]) / tau[i]
                k_bar[i] += (bend[i] - k_bar[i]) / tau[i]
            agreement = [g_bar[i] ** 2 / v_bar[i] for i in size]
            eta = [agreement[i] / k_bar[i] if k_bar[i] > 0 else mp.mpf(0) for i in size]
            tau = [(1 - agreement[i]) * tau[i] + 1 for i in size]
            theta = [theta[i] + eta[i] * g[i] for i in size]
            log_eta = mp.log(sum(eta) / len(eta))
        records.append(Record(theta, None, log_eta, loss))
    return records


BASES: dict[str, Callable[..., list[Record]]] = {
    "isg": isg,
    "adagrad": adagrad,
    "momentum": momentum,
    "saga": saga,
    "sag": sag,
    "vsgd": vsgd,
}


def run(
    model: str,
    algorithm: str,
    samples: Sequence[Sample],
    theta0: Sequence[Any],
    eta0: Any,
    *,
    parameter: Any = None,
    classes: int | None = None,
    hessian: str | None = None,
    memory: bool = False,
    unbiased: bool = False,
    **own: Any,
) -> list[Record]:
    """Learn the samples in order and return one record per sample."""
    base, _, rate = algorithm.partition("/")
    literal = make_model(model, parameter, classes)
    assert isinstance(literal, OneScore | Softmax)
    problem = Problem(
        model=literal,
        samples=samples,
        theta0=vector(theta0),
        eta0=mp.mpf(eta0),
        schedule=paper_f,
        exact=hessian == "exact" or (hessian is None and memory),
        memory=memory,
        unbiased=unbiased,
    )
    if model == "quantile" and base == "isg":
        own["level"] = mp.mpf(parameter)
    return BASES[base](problem, rate or None, **own)
