"""Where each number of an auto learner's state stands, after those that every state has."""

from llr.auto.bank_layout import FEATURES
from llr.kernels.jit import inline_jit
from llr.kernels.layout import OWN, SCALARS, THETA
from llr.types import Vector

# rows of vectors: where each of the three learners is, and what is known of each feature
ADAPTIVE, AGGRESSIVE, AVERAGED, CENTRE, SPREAD, INVERSE = range(OWN, OWN + 6)
ROWS = 6

# features that have names live in their own time: samples in which each was seen, samples in its
# mean, and which start of the mean it has noticed last. They are not centred, their 1/v is worked
# out at every step, and θ when it is read; so these stand where others keep that, and all of a
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
OF_ADAPTIVE, OF_TANGENT, OF_AGGRESSIVE, OF_AVERAGED, OF_ALL, INTERCEPT_ONLY, HEFT = range(7)
EACH = 7

# with named features one more, the last: how many times the mean has started over
NAMED_NUMBERS = 1

# the four that predict, in the order of their votes and shares
AVERAGED_VOTE, ADAPTIVE_VOTE, AGGRESSIVE_VOTE, INTERCEPT_ONLY_VOTE = range(4)
VOTERS = 4

# what the step reads after the model's own number
INTERCEPT, CENTRED = 1, 2

# rows of scratch, one number per score: scores of the learners, and the same kept within bounds;
# those of `llr.auto.class_filters` follow
(
    S_ADAPTIVE,
    S_AGGRESSIVE,
    S_AVERAGED,
    IN_ADAPTIVE,
    IN_AGGRESSIVE,
    IN_AVERAGED,
    S_INTERCEPT_ONLY,
    RAW,
) = range(8, 16)


@inline_jit
def has_bank(scalars: Vector, scores: int) -> bool:
    """Whether filters follow these numbers: `llr.auto.bank`, or `class_filters` of classes.

    Those of features with names may have retired (`llr.auto.bank_names`).
    """
    if scalars.size <= FIRST + EACH * scores + NAMED_NUMBERS:
        return False
    return scores > 1 or scalars[FIRST + EACH + FEATURES] >= 0.0


def numbers(scores: int) -> int:
    """How many numbers an auto learner keeps besides its vectors."""
    return FIRST - SCALARS + EACH * scores
