"""The rows of docs/reliability.md that have a harness here: a new one is a file and a line."""

from . import (
    balanced,
    corruption,
    cuts,
    database_kills,
    full_disk,
    kills,
    many_sessions,
    partitions,
    replica_kills,
    retries,
    slow_clients,
    soak,
    stalls,
    stops,
    watchers,
    writers,
)
from .verdict import Harness

ROWS: dict[int, Harness] = {
    1: Harness("a kill under load loses nothing and doubles nothing", "kills", 1000, 5, kills.run),
    2: Harness("a replica killed loses nothing", "kills", 500, 1, replica_kills.run),
    3: Harness("a database killed loses nothing", "kills", 50, 1, database_kills.run),
    6: Harness("a full disk loses nothing and is got over", "fills", 20, 1, full_disk.run),
    7: Harness("a damaged file serves nothing wrong", "damages", 1000, 15, corruption.run),
    8: Harness("a replica that slept does no harm", "stops", 20, 1, stalls.run),
    9: Harness("many writers of one session are put in order", "races", 200, 3, writers.run),
    10: Harness("a batch sent again is applied once", "runs", 500, 0, retries.run),
    14: Harness("slow clients get 408 and hold up nobody", "clients", 500, 50, slow_clients.run),
    15: Harness("streams nobody reads hold up nothing", "streams", 2000, 200, watchers.run),
    16: Harness("sessions beyond memory are there", "sessions", 20_000, 0, many_sessions.run),
    19: Harness("a stop under load loses nothing", "stops", 100, 2, stops.run),
    20: Harness("a long load leaves memory flat", "seconds", 1800, 0, soak.run),
    21: Harness("a balancer finds a replica that is there", "rounds", 10, 1, balanced.run),
    22: Harness("a replica cut off does no harm", "cuts", 20, 0, partitions.run),
    23: Harness("hosts that do not hear each other do no harm", "cuts of each", 20, 1, cuts.run),
}
"""Row 10 runs among the ordinary tests as tests/test_exactly_once.py, 16, 20 and 22 do not."""
