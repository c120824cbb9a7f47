"""Holding a learner to a literal reference, sample by sample."""

from collections.abc import Callable
from typing import Any

import numpy as np

import llr
from support import reference
from support.samples_of import config_of, options_of, samples_of, theta0_of

TOLERANCE = 1e-10
MODELS = ["gaussian", "bernoulli", "linear", "logistic", "poisson", "softmax", "quantile", "huber"]


def reference_samples(samples: tuple[Any, ...]) -> list[reference.Sample]:
    if len(samples) == 1:
        return [(None, float(y)) for y in samples[0]]
    return [(x.tolist(), float(y)) for x, y in zip(*samples, strict=True)]


def assert_like(
    run: Callable[..., list[reference.Record]],
    model: str,
    algorithm: str,
    *,
    seed: int,
    steps: int,
    eta0: float,
    own: dict[str, Any] | None = None,
    **options: Any,
) -> None:
    """Learn the samples of a seed one by one and compare θ, h, log η and loss after each.

    `own` are arguments of the reference alone.
    """
    samples, theta0 = samples_of(model, seed, steps), theta0_of(model, seed)
    learner = llr.Learner(
        model, algorithm=algorithm, eta0=eta0, theta0=theta0, **options_of(model), **options
    )
    config = config_of(model)
    classes = config.scores if config.of_model.classes else None
    has_number = config.of_model.parameter is not None and classes is None
    expected = run(
        model,
        algorithm,
        reference_samples(samples),
        theta0.tolist(),
        eta0,
        parameter=config.model_number if has_number else None,
        classes=classes,
        **options,
        **(own or {}),
    )
    for t in range(steps):
        outcome = learner.learn(*(column[t : t + 1] for column in samples))
        assert outcome, f"diverged at {t}"
        record = expected[t]
        close(learner.theta.ravel(), record.theta)
        close([learner.log_eta, learner.loss.total], [record.log_eta, record.loss])
        if record.h is not None:
            close(learner.h.ravel(), record.h)


def close(ours: Any, theirs: list[Any]) -> None:
    """Ten digits of the largest number."""
    theirs_array = np.array([float(v) for v in theirs])
    scale = max(float(np.abs(theirs_array).max()), 1e-3)
    assert np.abs(np.asarray(ours) - theirs_array).max() <= TOLERANCE * scale
