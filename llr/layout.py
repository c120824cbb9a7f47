"""Where each number of a learner's state stands. Kernels index by these names."""

# rows of the state's vectors V[row, k, i]: θ, its tangent h, then the base's, then memory's
THETA, H, OWN = 0, 1, 2

# the state's scalars; the algorithm's own follow
LOG_ETA, ETA, RATE_A, RATE_B, TAU, LOSS, REGRET, SCALARS = range(8)

# the state's counts: samples learnt, points of history kept, how far apart they are, the next one
T, POINTS, STRIDE, NEXT, COUNTS = range(5)

# what every kernel is told: which model it is, whether to compare with the best parameter, and how
# many rows of scratch the vectors of named features have behind them
MODEL, COMPARE, MORE, CHOICES = range(4)

# what a step reads: the model's own number, then its algorithm's settings; of a base with a rate
# they are the base's number, the rate's number, which rate, and whether it learns, takes the exact
# Hessian, has a memory
OF_MODEL = 0
OF_BASE, OF_RATE, RATE, LEARNS, EXACT, MEMORY = range(1, 7)

# rows of the scratch, one number per score each: those of `llr.slope.Slope`
SCRATCH = 7
