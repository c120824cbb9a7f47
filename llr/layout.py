"""Where each number of a learner's state stands. Kernels index by these names."""

# rows of the state's vectors V[row, k, i]: θ, its tangent h, then the base's, then memory's
THETA, H, OWN = 0, 1, 2

# the state's scalars
LOG_ETA, ETA, RATE_A, RATE_B, TAU, LOSS, REGRET, SCALARS = range(8)

# the state's counts: samples learnt, points of history kept, how far apart they are, the next one
T, POINTS, STRIDE, NEXT, COUNTS = range(5)

# which parts and options a learner is made of
MODEL, BASE, RATE, LEARNS, EXACT, MEMORY, COMPARE, CHOICES = range(8)

# the own numbers of its model, base and rate
OF_MODEL, OF_BASE, OF_RATE, NUMBERS = range(4)

# rows of the scratch, one number per score each: s, σ, g, g_h, and another point's score, residual
SCRATCH = 6
