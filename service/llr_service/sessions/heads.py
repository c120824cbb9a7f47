"""The last changes of sessions, as a store that others change too has them; many asked at once."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from llr_service.metrics import Metrics
from llr_service.sessions.committer import Receipt, outcome_of
from llr_service.stores.store import MultiWriter, StoreError, Version


class Heads:
    """Asks in a thread of its own, so that who reads waits for nobody who writes.

    Make it inside a running event loop. What is asked while an answer is on its way goes into one
    question after it: an answer is never older than who asked.
    """

    def __init__(self, store: MultiWriter, metrics: Metrics) -> None:
        self._store, self._metrics, self._loop = store, metrics, asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "heads")
        self._asked: dict[str, Receipt[Version | None]] = {}
        self._busy = False

    async def of(self, name: str) -> Version | None:
        """Which session has a name, and its last change; None if there is none."""
        receipt = self._asked.get(name)
        if receipt is None:
            receipt = self._asked[name] = Receipt()
            if not self._busy:
                self._busy = True
                self._loop.call_soon(self._start)
        return await receipt.wait()

    async def close(self) -> None:
        """Let go of the store, after the last answer."""
        await self._loop.run_in_executor(self._thread, self._store.close)
        self._thread.shutdown(wait=False)

    def _start(self) -> None:
        asked, self._asked = self._asked, {}
        self._busy = bool(asked)
        if asked:
            answer = self._loop.run_in_executor(self._thread, self._answer, [*asked])
            answer.add_done_callback(lambda done: self._finish(asked, done.result()))

    def _answer(self, names: list[str]) -> Mapping[str, Version] | StoreError:
        return outcome_of(lambda store: store.versions(names), self._store, self._metrics)

    def _finish(
        self, asked: dict[str, Receipt[Version | None]], found: Mapping[str, Version] | StoreError
    ) -> None:
        self._start()
        for name, receipt in asked.items():
            receipt.settle(found if isinstance(found, StoreError) else found.get(name))
