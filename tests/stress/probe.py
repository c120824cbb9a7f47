"""A process that asks `/livez` until its input ends, then prints how long each answer took.

It is run by its path and needs the standard library alone: `python probe.py PORT`.
"""

import json
import select
import sys
import time
from http.client import HTTPConnection


def main() -> None:
    """Ask every 2 ms."""
    connection, delays = HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60), list[float]()
    while not select.select([sys.stdin], [], [], 0.002)[0]:
        began = time.perf_counter()
        connection.request("GET", "/livez", headers={"host": "here"})
        connection.getresponse().read()
        delays.append(time.perf_counter() - began)
    sys.stdout.write(json.dumps(delays))


if __name__ == "__main__":
    main()
