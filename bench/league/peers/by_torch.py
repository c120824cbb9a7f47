"""Optimizers for torch on the CPU: they get the exact gradient of one sample at a time.

θ is a tensor of doubles that starts at 0, without an intercept, which these streams do not need.
Prediction and gradient are computed by numpy in the tensor's own memory, so that what is compared
is the optimizer alone. Schedule-Free is asked in its `eval` mode, as its authors say. TRAC is
around Adam, as in its paper.
"""

import logging
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from dadaptation import DAdaptAdam, DAdaptSGD
from dog import DoG
from prodigyopt import Prodigy
from schedulefree import AdamWScheduleFree, SGDScheduleFree
from trac_optimizer import start_trac

from bench.league.peers.peer import Peer
from bench.league.stream import Stream, losses
from llr.types import Vector

Optimizer = Callable[..., Any]
WILD = 1e12
torch.set_num_threads(1)
logging.getLogger("dog").setLevel(logging.ERROR)  # it warns at every step size that is swept


def run(stream: Stream, optimizer: Optimizer, rate: float | None) -> Vector:
    """The loss of each sample; infinite from where it left the finite numbers."""
    parameter = torch.zeros(stream.X.shape[1], dtype=torch.float64, requires_grad=True)
    parameter.grad = torch.zeros_like(parameter)
    theta, gradient = parameter.detach().numpy(), parameter.grad.numpy()
    steps = optimizer([parameter], **({} if rate is None else {"lr": rate}))
    modes = hasattr(steps, "eval")
    s = np.full(len(stream.y), np.inf)
    for t, (x, y) in enumerate(zip(stream.X, stream.y.tolist(), strict=True)):
        if modes:
            steps.eval()
        s[t] = theta @ x
        if not abs(s[t]) < WILD:
            return np.full(len(s), np.inf)
        if modes:
            steps.train()
        gradient[:] = (_mean(stream, theta @ x) - y) * x
        steps.step()
    return losses(stream, s)


def _mean(stream: Stream, s: float) -> float:
    return 0.5 * (1.0 + np.tanh(0.5 * s)) if stream.binary else s


def peer(name: str, optimizer: Optimizer) -> Peer:
    def on(stream: Stream, rate: float | None) -> Vector:
        return run(stream, optimizer, rate)

    return Peer(name, on, batch_1=False)


def _adam(parameters: Any, **given: Any) -> Any:
    return torch.optim.Adam(parameters, **given)


PEERS = [
    peer("Adam", _adam),
    peer("Schedule-Free AdamW", AdamWScheduleFree),
    peer("Schedule-Free SGD", SGDScheduleFree),
    peer("Prodigy", Prodigy),
    peer("D-Adaptation Adam", DAdaptAdam),
    peer("D-Adaptation SGD", DAdaptSGD),
    peer("DoG", DoG),
    peer("TRAC", start_trac(os.devnull, torch.optim.Adam)),
]
