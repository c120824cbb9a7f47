"""Sessions in memory: who owns a learner, how its samples reach the store, which stay loaded."""
