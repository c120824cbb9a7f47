"""`python -m service`, which is `llr serve`: one process, one event loop, one store."""

import asyncio
import logging
import signal
import sys
from types import FrameType

import uvicorn

from service import logs
from service.app import App
from service.settings import Settings
from service.stores import open_store
from service.stores.store import StoreError

log = logging.getLogger("service")


class Server(uvicorn.Server):
    """A server that ends its open streams as soon as it is told to stop."""

    def __init__(self, config: uvicorn.Config, app: App) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM or SIGINT: drain, then stop."""
        loop = asyncio.get_running_loop()
        loop.call_soon_threadsafe(self._app.context.drain)
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """Listen, and say where."""
        await super().startup(sockets)  # type: ignore[arg-type]
        for server in self.servers if self.started else ():
            for socket in server.sockets:
                host, port = socket.getsockname()[:2]
                log.info("listening", extra={"host": host, "port": port})
                sys.stdout.write(f"llr: listening on http://{host}:{port}\n")
                sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Serve until told to stop; returns the exit code."""
    settings = Settings.from_cli(arguments, prog="llr serve")
    logs.configure(settings.log_level)
    try:
        open_store(settings.store).close()
    except StoreError as failure:
        sys.stderr.write(f"llr serve: {failure}\n")
        return 1
    app = App(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=settings.drain_seconds,  # type: ignore[arg-type]
        timeout_keep_alive=75,
        server_header=False,
    )
    server = Server(config, app)
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, lambda *_: None)  # uvicorn raises it again after an orderly end
    server.run()
    return 0 if server.started else 1


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    sys.exit(main())
