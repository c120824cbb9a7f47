"""A deterministic simulation of the service: one seed decides everything that can happen.

The sessions, the routes and the store engines are the real ones. What is simulated is around them:
the event loop and its clock (`loop`), the committer's thread and the executor (`threads`), the
disk and its failures (`recorder`, and `support.power_cuts` below SQLite), the connections and those
who use them (`wire`, `clients`). `world` decides by lot what happens next, `rules` judges the
recorded history, `mutants` are faults that the rules have to find.
"""
