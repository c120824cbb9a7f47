"""Sessions in memory: their learners, their way to the store, and the registry of those loaded."""
