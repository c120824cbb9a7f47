"""`python -m llr_service.ready`: whether the service of this machine is ready, as an exit code.

For health checks of containers, which have nothing else to ask with. Only Python's own modules:
it is started every few seconds.
"""

import http.client
import os
import sys

SECONDS = 2.0


def is_ready(port: int) -> bool:
    """Whether a service listens on this port of loopback and says that it is ready."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(not is_ready(int(os.environ.get("LLR_PORT") or 8080)))
