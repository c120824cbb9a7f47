"""Whatever is sent, however often and in whatever order, each sample is learnt once."""

from hypothesis import settings

from stress.retries import Retries, within

TestRetries = Retries.TestCase
TestRetries.settings = settings(within(15), derandomize=True)
