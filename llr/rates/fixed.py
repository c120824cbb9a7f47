"""No learning of the rate: η stays η_0, as in the algorithms the paper starts from."""

from llr.compiled import part
from llr.rates.rate import Rate


@part
def advance(
    log_eta: float, lam: float, w: float, a: float, b: float, own: float
) -> tuple[float, float, float]:
    """log η' = log η."""
    return log_eta, a, b


RATE = Rate(name="fixed", summary="the step size stays as given", advance=advance, learns=False)
