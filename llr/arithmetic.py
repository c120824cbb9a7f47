"""The number of the arithmetic: two versions with the same number learn the same bits.

A log of samples is replayed through the kernels of the version that opens it. With another
arithmetic that would change states that were acknowledged, so log entries and packed states name
the number, and a service refuses to replay samples that another arithmetic learnt.

Raise it with every change that gives other bits; `tests/llr/test_arithmetic.py` fails until you do.
It says nothing of processors: sums are ordered for the one that kernels are compiled for.
"""

ARITHMETIC = 1
"""0 stands for an arithmetic without a number, which is that of 0.1.0."""
