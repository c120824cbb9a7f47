"""A bent axis: straight where the truth is, logarithmic beyond, for trajectories that explode.

What leaves even the logarithmic part is told by a bar above the panel for as long as it is
out there; a cross at its end says that it diverged.
"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator

from llr.types import Vector
from llr_cli.replay.experiments import power

SLOPE = 0.045
"""Height of a logarithmic decade, where the straight part is 1 high."""


class LinLogScale(NamedTuple):
    """Where an axis is straight, and where it ends.

    Attributes:
        low: the straight part's lower end.
        high: its upper end.
        end: the axis ends this far beyond either.
        ticks: of the straight part.
    """

    low: float
    high: float
    end: float
    ticks: tuple[float, ...]

    def forward(self, values: Vector) -> Vector:
        """From numbers to heights, 0 to 1 on the straight part."""
        span = self.high - self.low
        above = np.maximum(values - self.high, 0.0) / span
        below = np.maximum(self.low - values, 0.0) / span
        straight = (np.clip(values, self.low, self.high) - self.low) / span
        return straight + SLOPE * (np.log10(1.0 + 10.0 * above) - np.log10(1.0 + 10.0 * below))

    def inverse(self, heights: Vector) -> Vector:
        """From heights to numbers."""
        span = self.high - self.low
        above = 10.0 ** (np.maximum(heights - 1.0, 0.0) / SLOPE) - 1.0
        below = 10.0 ** (np.maximum(-heights, 0.0) / SLOPE) - 1.0
        return self.low + span * (np.clip(heights, 0.0, 1.0) + 0.1 * (above - below))

    def apply(self, axes: Axes) -> None:
        """LinLogScale an axis; the logarithmic parts are shaded."""
        axes.set_yscale("function", functions=(self.forward, self.inverse))
        axes.set_ylim(-self.end, self.end)
        powers = np.array([p for p in (1e2, 1e4, 1e6) if p <= self.end])
        places = [*-powers[::-1], *self.ticks, *powers]
        names = [_name(place, self.high) for place in places]
        axes.yaxis.set_major_locator(FixedLocator(places))
        axes.yaxis.set_major_formatter(FixedFormatter(names))
        for start, end in ((-self.end, self.low), (self.high, self.end)):
            axes.axhspan(start, end, color="#f3f4f6", linewidth=0, zorder=0)

    def inside(self, values: Vector) -> Vector:
        """The values with those left out that lie beyond the axis, as do both their neighbours.

        A neighbour that is not a number counts as one beyond the axis.
        """
        out = self.beyond(values) | np.isnan(values)
        lost = out & np.roll(out, 1) & np.roll(out, -1)
        return np.where(lost, np.nan, np.clip(values, -10.0 * self.end, 10.0 * self.end))

    def leaves(self, values: Vector) -> bool:
        """Whether any value lies outside the straight part."""
        return bool((values < self.low).any() or (values > self.high).any())

    def beyond(self, values: Vector) -> Any:
        """Whether each value lies beyond the axis."""
        return np.abs(values) > self.end


def _name(place: float, high: float) -> str:
    if abs(place) <= high:
        return f"{place:g}"
    return ("−" if place < 0 else "") + power(abs(place))
