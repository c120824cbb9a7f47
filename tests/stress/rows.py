"""The rows of docs/reliability.md: a new one is a file, a line here and a line there."""

from . import (
    access,
    balanced,
    budgets,
    corruption,
    cuts,
    database_kills,
    full_disk,
    fuzz,
    hostile_bodies,
    hostile_names,
    hostile_numbers,
    http_streams,
    io_errors,
    kills,
    many_sessions,
    partitions,
    power,
    real_clients,
    recorded,
    replica_kills,
    retries,
    simulation,
    slow_clients,
    soak,
    stalls,
    stops,
    watchers,
    writers,
)
from .journal import recorded as with_history
from .verdict import Harness

_ROWS: dict[int, Harness] = {
    1: Harness("a kill under load loses nothing and doubles nothing", "kills", 1000, 5, kills.run),
    2: Harness("a replica killed loses nothing", "kills", 500, 1, replica_kills.run),
    3: Harness("a database killed loses nothing", "kills", 50, 1, database_kills.run),
    4: Harness("a power cut takes nothing that was acked", "cuts", 10_000, 0, power.run),
    5: Harness("a failing disk is told of", "histories", 20, 0, io_errors.run),
    6: Harness("a full disk loses nothing and is got over", "fills", 20, 1, full_disk.run),
    7: Harness("a damaged file serves nothing wrong", "damages", 1000, 15, corruption.run),
    8: Harness("a replica that slept does no harm", "stops", 20, 1, stalls.run),
    9: Harness("many writers of one session are put in order", "races", 200, 3, writers.run),
    10: Harness("a batch sent again is applied once", "runs", 500, 0, retries.run),
    11: Harness("every answer is documented", "cases", 50_000, 0, fuzz.run),
    12: Harness("no number makes a state none", "bodies", 10_000, 60, hostile_numbers.run),
    13: Harness("no body does harm", "bodies", 10_000, 100, hostile_bodies.run),
    14: Harness("slow clients get 408 and hold up nobody", "clients", 500, 50, slow_clients.run),
    15: Harness("streams nobody reads hold up nothing", "streams", 2000, 200, watchers.run),
    16: Harness("sessions beyond memory are there", "sessions", 20_000, 0, many_sessions.run),
    17: Harness("nobody gets past the guard", "tricks", 50_000, 500, access.run),
    18: Harness("no name and no header does harm", "names", 10_000, 100, hostile_names.run),
    19: Harness("a stop under load loses nothing", "stops", 100, 2, stops.run),
    20: Harness("a long load leaves memory flat", "seconds", 1800, 0, soak.run),
    21: Harness("a balancer finds a replica that is there", "rounds", 10, 1, balanced.run),
    22: Harness("a replica cut off does no harm", "cuts", 20, 0, partitions.run),
    23: Harness("hosts that do not hear each other do no harm", "cuts of each", 20, 1, cuts.run),
    24: Harness("no body is served as a request", "streams", 100_000, 200, http_streams.run),
    25: Harness("the programs people use are served", "runs", 27, 9, real_clients.run),
    26: Harness("every order of events keeps every rule", "seeds", 20_000, 0, simulation.run),
    27: Harness("what was answered fits one history", "histories", 20, 1, recorded.run),
    29: Harness("nothing asked exceeds its budget", "sessions", 10_000, 50, budgets.run),
}
ROWS = {number: with_history(row) for number, row in _ROWS.items()}
"""Rows 4, 5, 10, 11 and 26 have tests of their own among the ordinary ones, run beside the others:
test_power_cuts.py, test_retries.py, test_fuzz.py and, of the sessions, test_simulation.py. 16, 20
and 22 have no short form."""
