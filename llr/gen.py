"""GEN/SG (Appendix B): learn the hyperparameter of any step θ' = F(θ, η).

    η_{t+1} = η_t + α (∂ℓ_t(θ_t)·h_t) e
    h_{t+1} = ∂_θF(θ_t, η_t)·h_t + ∂_ηF(θ_t, η_t)·e
    θ_{t+1} = F(θ_t, η_{t+1})

where h is the derivative of θ along e, a direction of hyperparameters. θ may hold all that an
algorithm remembers, not only the parameter: give ∂ℓ zeros there. R11: α is added to η itself, and
F is differentiated at η_t; to work on log η, let F take log η.

Heavy-ball momentum by hand (compiled it is the base `momentum`): θ = (w, v) with v' = 0.9 v + e^u
g(w), w' = w + v', where u = log η is learnt while w looks for the mean of 4, 4, 4, …

>>> import numpy as np
>>> def g(w, y):
...     return y - w
>>> def F(theta, u, y):
...     w, v = theta
...     v = 0.9 * v + np.exp(u) * g(w, y)
...     return np.array([w + v, v])
>>> def along_theta(theta, u, y, h):
...     dw, dv = h
...     dv = 0.9 * dv - np.exp(u) * dw
...     return np.array([dw + dv, dv])
>>> def along_eta(theta, u, y, e):
...     dv = np.exp(u) * g(theta[0], y) * e
...     return np.array([dv, dv])
>>> learner = GenSG(
...     step=F, along_theta=along_theta, along_eta=along_eta,
...     gradient=lambda theta, y: np.array([g(theta[0], y), 0.0]),
...     theta0=[0.0, 0.0], eta0=np.log(1e-4), alpha=0.03,
... )
>>> for _ in range(500):
...     outcome = learner.learn(4.0)
>>> print(f"w = {learner.theta[0]:.2f}, eta grew {np.exp(learner.eta) / 1e-4:.0f} times")
w = 4.00, eta grew 165 times
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from llr.base import Outcome, Status
from llr.types import Vector


class GenSG:
    """An algorithm θ' = F(θ, η) that learns η as it runs.

    Args:
        step: F(θ, η, sample) → θ'.
        along_theta: (θ, η, sample, h) → ∂_θF(θ, η)·h.
        along_eta: (θ, η, sample, e) → ∂_ηF(θ, η)·e.
        gradient: (θ, sample) → ∂ℓ(θ), of the shape of θ.
        theta0: where θ starts.
        eta0: where η starts: a number, or an array of hyperparameters.
        alpha: the step size on η, a number or a function of t.
        direction: e, along which η moves; 1 if left out.
    """

    def __init__(
        self,
        step: Callable[[Vector, Any, Any], Vector],
        along_theta: Callable[[Vector, Any, Any, Vector], Vector],
        along_eta: Callable[[Vector, Any, Any, Any], Vector],
        gradient: Callable[[Vector, Any], Vector],
        theta0: Any,
        eta0: Any,
        alpha: float | Callable[[int], float],
        direction: Any = 1.0,
    ) -> None:
        self._step, self._gradient = step, gradient
        self._along_theta, self._along_eta = along_theta, along_eta
        self._alpha, self._e = alpha, direction
        self.theta: Vector = np.array(theta0, np.float64)
        self.eta = eta0
        self.h: Vector = np.zeros_like(self.theta)
        self.t = 0

    def learn(self, sample: Any) -> Outcome:
        """Take one step; one that would leave the finite numbers is not taken."""
        alpha = self._alpha(self.t) if callable(self._alpha) else self._alpha
        before = self.eta
        slope = float(np.sum(self._gradient(self.theta, sample) * self.h))
        with np.errstate(over="ignore", invalid="ignore"):
            eta = before + alpha * slope * self._e
            h = self._along_theta(self.theta, before, sample, self.h)
            h = h + self._along_eta(self.theta, before, sample, self._e)
            theta = self._step(self.theta, eta, sample)
        if not all(np.isfinite(new).all() for new in (eta, h, theta)):
            return Outcome(Status.DIVERGED, 0)
        self.eta, self.h, self.theta, self.t = eta, h, theta, self.t + 1
        return Outcome(Status.LEARNT, 1)
