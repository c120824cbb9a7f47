"""Metrics: how good the predictions are, in numbers that everybody knows, beside a baseline's.

Each sample is predicted before it is learnt, and the prediction is compared with the label:

* numbers: RMSE, √ of the mean of (y − μ)², and MAE, the mean of |y − μ|; the baseline predicts the
  mean of the labels so far, and 0 before the first;
* classes: accuracy, the share of labels that were the likeliest class; the baseline predicts the
  class that was most frequent so far. Of two classes also the AUC, the probability that a one was
  predicted to be likelier than a zero; the baseline's is ½.
* coverage: the share of labels within their 90 % interval or prediction set (`llr.intervals`).

*Overall* is over all samples. *Recent* is an exponentially weighted mean: a ← a + (e − a)·r with
r = max(1/n, 1/200): the plain mean up to the 200th sample, and then a sample weighs half as much
when 138 more have come. The recent loss is the same mean of the loss.

The AUC comes from a histogram of 64 bins of log p/(1−p), a quarter wide each. Its recent one
weighs the samples likewise: new ones weigh more and more, and all are scaled down in time.

Samples of weight 0 are not looked at; other weights matter for the loss alone. Numbers are cut at
1e290, so that no sum leaves the finite numbers.
"""

import math
from typing import NamedTuple

import numpy as np

from llr.intervals import EACH, FIRST, IN_CLASSES, MISSES, coverage, place
from llr.kernels.jit import inline_jit, jit
from llr.models import Model
from llr.types import Vector

RECENT = 200.0
"""Over about how many samples what is recent is averaged."""
LEVEL = 0.9
"""The level of the intervals whose coverage is tracked."""
BINS, WIDTH = 64, 0.25
LARGEST = 1e290
HEAVIEST = 1e100

# the numbers: samples, the recent loss, the baseline's prediction, samples with an interval, the
# share of them within; then two errors (squared and absolute; of classes hits, and nothing) of
# the learner and of the baseline, each as a sum and as a recent mean
SEEN, LOSS, BASELINE, COVERABLE, COVERED = range(5)
ERRORS = 5
SQUARE, SIZE, BASE_SQUARE, BASE_SIZE = (ERRORS + 2 * k for k in range(4))
NUMBERS = ERRORS + 8
MAIN, BASE_MAIN = SQUARE + 1, BASE_SQUARE + 1
# of classes: how often each came; of two also the weight of the next sample, and the histograms
# of zeros and ones, overall and recent
COUNTS = NUMBERS
WATCHED = FIRST + EACH * place(LEVEL) + MISSES


class Measure(NamedTuple):
    """One metric over about the last 200 samples, and over all; None before there is any."""

    recent: float | None
    overall: float | None


class Baseline(NamedTuple):
    """The same of the baseline: the mean of the labels, or the most frequent class, so far."""

    rmse: Measure | None = None
    mae: Measure | None = None
    accuracy: Measure | None = None
    auc: Measure | None = None


class Metrics(NamedTuple):
    """How good the predictions were; None where a metric has no meaning for the model.

    Attributes:
        rmse, mae: of numbers.
        accuracy: of classes.
        auc: of two classes.
        coverage: of the 90 % intervals or prediction sets.
        baseline: those of the baseline.
    """

    rmse: Measure | None
    mae: Measure | None
    accuracy: Measure | None
    auc: Measure | None
    coverage: Measure
    baseline: Baseline


def size(model: Model, scores: int) -> int:
    """How many numbers are kept for a model."""
    if model.classes:
        return NUMBERS + scores
    return NUMBERS + 2 + 1 + 4 * BINS if model.binary else NUMBERS


def initial(model: Model, scores: int) -> Vector:
    """The numbers before the first sample."""
    return np.zeros(size(model, scores))


@inline_jit
def _average(m: Vector, at: int, value: float) -> None:
    """Take a value into the sum there and the recent mean behind it."""
    m[at] += value
    m[at + 1] += (value - m[at + 1]) / min(m[SEEN], RECENT)


@inline_jit
def _cut(value: float) -> float:
    return value if value < LARGEST else LARGEST


@jit
def track(model: int, m: Vector, prediction: Vector, y: float, loss: float, missed: float) -> None:
    """Take in a sample of this loss, its prediction on the natural scale, and its label.

    `missed` is what the interval's sum of misses changed by: above 0 if the label was outside, 0 if
    there was no interval yet.
    """
    m[SEEN] += 1.0
    m[LOSS] += (loss - m[LOSS]) / min(m[SEEN], RECENT)
    if missed != 0.0:
        m[COVERABLE] += 1.0
        within = 0.0 if missed > 0.0 else 1.0
        m[COVERED] += (within - m[COVERED]) / min(m[COVERABLE], RECENT)
    if IN_CLASSES[model]:
        _track_class(m, prediction, int(y))
    else:
        error, off = _cut(abs(y - prediction[0])), _cut(abs(y - m[BASELINE]))
        _average(m, SQUARE, _cut(error * error))
        _average(m, SIZE, error)
        _average(m, BASE_SQUARE, _cut(off * off))
        _average(m, BASE_SIZE, off)
        m[BASELINE] += y / m[SEEN] - m[BASELINE] / m[SEEN]


@inline_jit
def _track_class(m: Vector, prediction: Vector, y: int) -> None:
    likeliest = 0
    if prediction.size > 1:
        for k in range(1, prediction.size):
            likeliest = k if prediction[k] > prediction[likeliest] else likeliest
    else:
        likeliest = 1 if prediction[0] > 0.5 else 0
        _rank(m[COUNTS + 2 :], prediction[0], y)
    _average(m, SQUARE, 1.0 if likeliest == y else 0.0)
    _average(m, BASE_SQUARE, 1.0 if int(m[BASELINE]) == y else 0.0)
    m[COUNTS + y] += 1.0
    if m[COUNTS + y] > m[COUNTS + int(m[BASELINE])]:
        m[BASELINE] = y


@inline_jit
def _rank(h: Vector, p: float, y: int) -> None:
    """Count a probability among those of the zeros or the ones."""
    at = 0
    if p > 0.0:
        odds = math.log(p / (1.0 - p)) if p < 1.0 else math.inf
        at = int(min(max(odds / WIDTH + 0.5 * BINS, 0.0), BINS - 1.0))
    h[1 + y * BINS + at] += 1.0
    if not 0.0 < h[0] < HEAVIEST:
        if h[0] > 0.0:
            for k in range(2 * BINS):
                h[1 + 2 * BINS + k] /= h[0]
        h[0] = 1.0
    h[1 + (2 + y) * BINS + at] += h[0]
    h[0] /= 1.0 - 1.0 / RECENT


def read(model: Model, m: Vector | None, calibration: Vector | None) -> Metrics:
    """The metrics of a learner with these numbers, None before it has any."""
    classes = model.classes or model.binary
    if m is None or calibration is None or m[SEEN] == 0.0:
        m, calibration = initial(model, 2), None
    covered = _coverage(m, calibration, classes)
    if classes:
        auc = _auc(m[COUNTS + 3 :]) if model.binary else None
        half = auc and Measure(*(each if each is None else 0.5 for each in auc))
        baseline = Baseline(accuracy=_mean(m, BASE_SQUARE), auc=half)
        return Metrics(None, None, _mean(m, SQUARE), auc, covered, baseline)
    baseline = Baseline(_root(_mean(m, BASE_SQUARE)), _mean(m, BASE_SIZE))
    return Metrics(_root(_mean(m, SQUARE)), _mean(m, SIZE), None, None, covered, baseline)


def _mean(m: Vector, at: int) -> Measure:
    n = m.item(SEEN)
    return Measure(m.item(at + 1), m.item(at) / n) if n else Measure(None, None)


def _root(measure: Measure) -> Measure:
    recent, overall = measure
    if recent is None or overall is None:
        return measure
    return Measure(math.sqrt(recent), math.sqrt(overall))


def _coverage(m: Vector, calibration: Vector | None, classes: bool) -> Measure:
    overall = None if calibration is None else coverage(calibration, LEVEL, classes)
    return Measure(m.item(COVERED) if m[COVERABLE] else None, overall)


def _auc(histograms: Vector) -> Measure:
    zeros, ones, lately_zeros, lately_ones = histograms.reshape(4, BINS)
    return Measure(_area(lately_zeros, lately_ones), _area(zeros, ones))


def _area(zeros: Vector, ones: Vector) -> float | None:
    """The probability that a one is in a higher bin than a zero; those in the same count half."""
    total = float(zeros.sum()) * float(ones.sum())
    if not total:
        return None
    below = np.cumsum(zeros) - 0.5 * zeros
    return float(below @ ones) / total


def is_sound(model: Model, m: Vector, t: int) -> bool:
    """Whether the numbers can have come from learning t samples."""
    if not 0.0 <= m[COVERABLE] <= m[SEEN] <= t or not 0.0 <= m[COVERED] <= 1.0:
        return False
    most, classes = m.item(BASELINE), m.size - COUNTS if model.classes else 2
    if (model.classes or model.binary) and (most != int(most) or not 0 <= most < classes):
        return False
    return bool((m[ERRORS:] >= 0.0).all())
