"""The step of a session: its team learns, and what is wrong is told in the caller's terms."""

from llr import Outcome, SampleError
from llr_service.problems import Problem
from llr_service.sessions.batch import Fresh
from llr_service.sessions.learners import check_kind
from llr_service.sessions.team import Team


def learn(team: Team, fresh: Fresh, predictions: bool) -> Outcome:
    """Learn from what is of the team's kind."""
    try:
        check_kind(team.champion, fresh.samples.X)
        return team.learn(*fresh.samples.arguments, predictions=predictions)
    except SampleError as wrong:
        raise placed(wrong, fresh) from None


def placed(wrong: SampleError, fresh: Fresh) -> Problem:
    """What is wrong with a sample, told by its place in the body it came in."""
    number = "" if wrong.index is None else f"/{fresh.places[wrong.index]}"
    errors = [{"pointer": f"{number}/{wrong.field}", "detail": wrong.reason}]
    return Problem("invalid", f"{wrong}", errors)


def advice(at: int) -> str:
    """What to do when the sample at t makes a session diverge."""
    return (
        f"sample {at} of the session would make it leave the finite numbers; nothing of this body "
        "was learnt. Create the session again with a smaller eta0, or scale the samples"
    )
