"""The figures, in the order of the paper: what each is called, what to see in it, who draws it."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from llr_cli.figures.beside_auto import beside_auto
from llr_cli.figures.hand_tuned import hand_tuned
from llr_cli.figures.quadratic import quadratic
from llr_cli.figures.regrets import regrets
from llr_cli.figures.runs import Runs
from llr_cli.figures.step_sizes import step_sizes
from llr_cli.figures.trajectories import trajectories
from llr_cli.replay.experiments import AUTO, MODELS


class Picture(NamedTuple):
    """A figure to be drawn.

    Attributes:
        name: of its files, without their suffix.
        see: one sentence that says what to see.
        draw: makes it from the runs.
        streams: whose runs it needs.
        algorithm: without whose runs it is not drawn, if there is such a one.
    """

    name: str
    see: str
    draw: Callable[[Runs], Figure]
    streams: tuple[str, ...]
    algorithm: str | None = None

    def is_possible(self, runs: Runs) -> bool:
        """Whether there is anything to draw it from."""
        return any(
            run.experiment.stream in self.streams
            and self.algorithm in (None, run.experiment.algorithm)
            for run in runs
        )


KINDS: dict[str, Callable[[Runs, str], Figure]] = {
    "trajectories": trajectories,
    "regrets": regrets,
    "step-sizes": step_sizes,
    "hand-tuned": hand_tuned,
}

SEE = {
    "trajectories-gaussian": "Above, only a good step size brings θ to the running maximum"
    " likelihood (red), and one that is too large lets SVRG diverge; below, where the step size is"
    " learnt, every start from 10⁻⁵ to 10 gets there.",
    "trajectories-bernoulli": "Small fixed steps hardly leave 0 and large ones wander; SVRG/AG"
    " arrives from everywhere, SG/AG the later the smaller it started, from 10⁻⁵ and 10⁻⁴ not"
    " within these samples.",
    "trajectories-regression": "Started too small, the learnt step size overtakes the fixed one;"
    " started at 10⁻² or more, SG/AG stays where it was thrown, and neither comes back from the"
    " largest steps: underestimate η₀.",
    "regrets-gaussian": "Above, regret keeps growing for most step sizes; below, it stops after"
    " some hundred samples at the price of finding the step size, less the better the start.",
    "regrets-bernoulli": "SVRG/AG stops paying early from every start; SG/AG still pays where it"
    " started at 10⁻³ or less, for it has not arrived.",
    "regrets-regression": "No regret stands still in 50 dimensions; learnt from 10⁻⁵ to 10⁻³ it is"
    " as low as that of the best fixed step, and from 10⁻¹ on it leaves the picture.",
    "step-sizes-gaussian": "log η finds its level within some 200 samples, nearly the same from"
    " every start for SG/AG, and θ arrives with it.",
    "step-sizes-bernoulli": "A coin's slopes say little: the smaller η₀, the longer log η climbs,"
    " and it is still climbing where θ has not arrived.",
    "step-sizes-regression": "From small starts log η rises all the time for SG/AG and settles for"
    " SVRG/AG; from large ones it falls at once, for SG/AG so far that θ stops moving.",
    "hand-tuned-gaussian": "From step sizes ten to a hundred thousand times too small, and ten"
    " times too large, the learnt one ends on the trajectory of the best fixed one.",
    "hand-tuned-bernoulli": "SVRG/AG joins hand-tuned SVRG from every poor start; SG/AG joins"
    " hand-tuned SG from one tenth, nearly from one hundredth, and comes late from less.",
    "hand-tuned-regression": "SG/AG from too small a start overtakes hand-tuned SG, and SVRG/AG"
    " lies upon hand-tuned SVRG; from far too large a start neither is rescued.",
    "quadratic": "The learnt step size falls below the stable 10⁻⁸ in some 20 samples and then"
    " only with f(t), but θ has been through 10²⁸ (SG/AG) and 10⁴⁹ (SVRG/AG) by then; the fixed"
    " step diverges. SVRG does not divide by f(t): what has to fall is its own η/2, dashed.",
    "beside-auto": "The LLR algorithms' regret hangs on η₀; auto (black), which is given none,"
    " stays with the best of the colours on all three streams.",
}


def paper() -> list[Picture]:
    """The paper's thirteen, and one of our own for a service that has `auto`."""
    found = [_picture(kind, stream) for kind, stream in product(KINDS, MODELS)]
    found.append(Picture("quadratic", SEE["quadratic"], quadratic, ("quadratic",)))
    found.append(Picture("beside-auto", SEE["beside-auto"], beside_auto, MODELS, AUTO))
    return [one._replace(name=f"{n:02d}-{one.name}") for n, one in enumerate(found, start=1)]


def save(figure: Figure, out: Path, name: str) -> None:
    """As PNG and as SVG, the same bytes for the same data."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # it has been laid out: once is enough for both
    figure.savefig(out / f"{name}.png", dpi=150, metadata={"Software": None})
    figure.savefig(out / f"{name}.svg", metadata={"Date": None, "Creator": None})


def _picture(kind: str, stream: str) -> Picture:
    name = f"{kind}-{stream}"
    return Picture(name, SEE[name], lambda runs: KINDS[kind](runs, stream), (stream,))
