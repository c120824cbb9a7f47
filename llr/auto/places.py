"""Where each number of an auto learner's state stands, after those that every state has."""

from llr.compiled import part
from llr.layout import OWN, SCALARS, THETA
from llr.types import Vector

# rows of vectors: where each of the three learners is, and what is known of each feature
WALKER, RUNNER, MEAN, CENTRE, SPREAD, INVERSE = range(OWN, OWN + 6)
ROWS = 6

# features that have names live in their own time: samples in which each was seen, samples in its
# mean, and which start of the mean it has noticed last. They are not centred, their 1/v is worked
# out at every step, and θ when somebody looks; so these stand where others keep that, and all of a
# feature is in one cache line. Centre and 1/v then have rows of scratch, behind the others
SEEN, EPOCH, COUNTED = CENTRE, INVERSE, THETA
NO_CENTRE, INVERSE_NOW = range(OWN + ROWS, OWN + ROWS + 2)
NAMED_SCRATCH = 2

# numbers: samples in the mean, the noise, the mean stretch of a step, the labels' range, the
# bounds of a score, how well they have done, the trust in them
COUNT, NOISE, STRETCH, LOWEST, HIGHEST, FLOOR, CEILING, MERIT, TRUST = range(SCALARS, SCALARS + 9)

# how well each of the four has done of late, on a logarithmic scale, and its share in a prediction
VOTES, SHARES = SCALARS + 9, SCALARS + 13

# for each score: every learner's constant term, the tangent's, that of all together; then the
# constant that needs no features, and the weight behind it
FIRST = SCALARS + 17
OF_WALKER, OF_TANGENT, OF_RUNNER, OF_MEAN, OF_ALL, CONSTANT, HEFT = range(7)
EACH = 7

# with named features one more, the last: how many times the mean has started over
NAMED_NUMBERS = 1

# the four that predict, in the order of their votes and shares
MEAN_VOTE, WALKER_VOTE, RUNNER_VOTE, CONSTANT_VOTE = range(4)
VOTERS = 4

# what the step reads after the model's own number
INTERCEPT, CENTRED = 1, 2

# rows of scratch, one number per score: scores of the learners, and the same kept within bounds
S_WALKER, S_RUNNER, S_MEAN, IN_WALKER, IN_RUNNER, IN_MEAN, S_CONSTANT, RAW = range(7, 15)
SCRATCH = 15


@part
def has_bank(scalars: Vector, scores: int) -> bool:
    """Whether the filters of `llr.auto.bank` follow these numbers."""
    return scores == 1 and scalars.size > FIRST + EACH + NAMED_NUMBERS


def numbers(scores: int) -> int:
    """How many numbers an auto learner keeps besides its vectors."""
    return FIRST - SCALARS + EACH * scores
