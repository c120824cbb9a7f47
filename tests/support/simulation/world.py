"""Everything around the service, and the lot that decides what happens next."""

import asyncio
import logging
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from llr_service.app import App
from llr_service.settings import Settings
from llr_service.stores.memory import Memory
from llr_service.stores.postgres.engine import Postgres
from llr_service.stores.postgres.url import address
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import Store, StoreError

from support.checker import Checker
from support.power_cuts import Disk, PowerCut

from .clients import COPIES, NAMES, Client, Numbers, Recipe, look
from .history import History, answered, seen_of
from .loop import START, SimulatedLoop, in_executor
from .recorder import Faults, Line, Recorder, SharedRecorder, Truth
from .server import Chances, Server
from .threads import SimulatedThread
from .wire import Request

STEPS = 30_000
"""Turns of the loop after which a run counts as stuck."""
PATIENCE = 600.0
"""Simulated seconds in which every request has an answer."""
REFUSALS = 20
"""How often in a run the service may refuse to start."""
SETTLED = 1.0
"""Simulated seconds after the last fault: a lost database is not asked again at once."""
TICK = 0.001
"""Simulated seconds that every step takes."""
DATABASE = "postgresql://simulated/llr"
Action = Callable[[], None]


class Crash(BaseException):
    """The process is gone."""


class Stuck(Exception):
    """Nothing can happen any more, or nothing comes to an end."""


@dataclass(frozen=True)
class Plan:
    """What a run consists of.

    Attributes:
        engine: `memory`, `sqlite` or `postgres`.
        operations: how often each is asked for, beside the others.
        faults: how often the store fails.
        chances: how often else something goes wrong: `crash`, `kill` (of one replica), `cut`,
            `cancel`, `jump`, `back` (of the clock), `disk`.
        clients: how many there are.
        requests: of each client.
        store: how often the store moves, beside one client.
        names: the sessions that are asked for most.
        cap: bytes of sessions that may be in memory.
        replicas: services that share a database.
        line: how often a statement to the database fails.
        patience: how much less often clients leave; requests to replicas take more steps.
        queue: requests that a session may have in its queue, 0 for as many as the settings say.
        inline: bytes from which decoding and learning leave the loop, 0 for the service's own.
        crash_at: the turn at which all processes are killed, whatever else is drawn; 0 for none.
    """

    engine: str
    operations: dict[str, float]
    faults: Faults
    chances: dict[str, float]
    clients: int = 3
    requests: int = 9
    store: float = 1.0
    cap: int = 2**20
    names: tuple[str, ...] = NAMES
    replicas: int = 1
    line: Chances = field(default_factory=Chances)
    patience: float = 1.0
    queue: int = 0
    inline: int = 0
    crash_at: int = 0


@dataclass
class World:
    """One run. Everything that is drawn by lot comes from `lot`, in one order."""

    seed: int
    plan: Plan
    folder: Path
    history: History = field(default_factory=History)
    truth: Truth = field(default_factory=Truth)
    trouble: list[str] = field(default_factory=list)
    crashes: int = 0

    def __post_init__(self) -> None:
        self.lot = random.Random(self.seed)
        numbers, plan = Numbers(), self.plan
        self.clients = [
            Client(i, self.lot, numbers, self.history, plan.requests, plan.names)
            for i in range(plan.clients)
        ]
        self.judge = Client(-1, self.lot, numbers, self.history, 0)
        self.loop = SimulatedLoop(self._outside, START)
        self.apps = list[App]()
        self._memory, self._disk = Memory(), Disk()
        self._server = Server(self.lot, replace(plan.line))
        self._faults, self._looks = replace(plan.faults), list[Recipe]()
        self._final, self._step, self._since, self._over = 0, 0, START, False
        self._behind, self.kills = 0.0, 0
        self._threads = dict[int, SimulatedThread]()
        self.checker = Checker()
        self._stop: asyncio.Event | None = None
        self._left, self._refusals = list[Request](), 0
        (self.folder / "llr.db").touch()

    def run(self) -> None:
        """Let the clients work, then look at what is left, then look again after a restart."""
        with self._patched():
            while self._final < 3:
                try:
                    self.loop.run_until_complete(self._live())
                    self._final += 1
                except (Crash, PowerCut):
                    self._crashed()
                except StoreError as refusal:  # to start; it is started again
                    self._disk.failing = range(0)
                    self._refusals += 1
                    if self._refusals > REFUSALS:
                        raise Stuck(f"it does not start: {refusal}") from refusal
                self._end_loop()

    async def _live(self) -> None:
        """One process a replica: it starts, serves, and stops when there is nothing more to do."""
        self._stop = asyncio.Event()
        clock = lambda: self.loop.now - self._behind  # noqa: E731
        apps = [App(self._settings(), clock) for _ in range(self.plan.replicas)]
        async with AsyncExitStack() as stack:
            for app in apps:
                await stack.enter_async_context(app.inner.router.lifespan_context(app.inner))
                self._threads[id(app)] = SimulatedThread.started[-1]
            self.apps, self._over = apps, False
            if self._final:
                self._looks = [*self._looking()]
            await self._stop.wait()
            self.apps = []

    @property
    def turns(self) -> int:
        """Turns of the loop so far."""
        return self._step

    def _settings(self) -> Settings:
        urls = {"sqlite": f"sqlite:///{self.folder}/llr.db", "postgres": DATABASE}
        url = urls.get(self.plan.engine, "memory:")
        made = Settings(store=url, docs=False, log_level="error")
        queue = self.plan.queue or made.max_queue
        return made.model_copy(update={"memory_cap": self.plan.cap, "max_queue": queue})

    def _looking(self) -> Iterator[Recipe]:
        for name in (*NAMES, *COPIES):
            yield look(name)
            for client in self.clients:
                yield look(name, client.producer)
                if "sparse" in self.plan.operations:
                    yield look(name, f"{client.producer}s")

    def _outside(self, timeout: float | None) -> float:
        """Let something happen, or time go by, wherever a loop looks for what came from outside."""
        self._step += 1
        if self._step > STEPS:
            raise Stuck(f"not done after {STEPS} turns")
        if timeout == 0 and self.lot.random() < 0.5:
            return 0.0
        if self._step == self.plan.crash_at and not self._final:
            raise Crash
        actions = self._actions()
        if timeout and (not actions or self.lot.random() < 0.05):
            if self._busy() and self.loop.now - self._since > PATIENCE:
                raise Stuck("a request has no answer")
            return timeout
        if not actions:
            if timeout is None:
                raise Stuck("nothing can happen")
            return 0.0
        chosen = self.lot.choices([action for _, action in actions], [one for one, _ in actions])
        self._since = self.loop.now
        chosen[0]()
        return TICK

    def _busy(self) -> bool:
        return bool(self._left) or any(one.request for one in [*self.clients, self.judge])

    def _actions(self) -> list[tuple[float, Action]]:
        """What may happen now, each with its weight."""
        found: list[tuple[float, Action]] = []
        plan = self.plan
        found += [(plan.store, one.step) for one in SimulatedThread.started if one.ready]
        if self.loop.jobs:
            found.append((1.0, self._job))
        if not self.apps:
            return found
        for client in [*self.clients, self.judge]:
            found += self._of_client(client)
        self._left = [one for one in self._left if not one.over]
        found += [(2.0, one.arrive) for one in self._left if one.waits]
        if self._server.late:
            found.append((0.05 if not self._final else 1.0, self._server.arrive))
        if not self._final:
            chances = plan.chances
            found += [(chances.get("crash", 0.0), self._crash), (chances["jump"], self._jump)]
            if len(self.apps) > 1:
                found.append((chances.get("kill", 0.0), self._kill))
            found.append((chances.get("back", 0.0), self._go_back))
            if plan.engine == "sqlite":
                found.append((chances.get("disk", 0.0), self._fail))
        if self._all_done():
            found.append((1.0, self._finish))
        return [one for one in found if one[0] > 0]

    def _of_client(self, client: Client) -> list[tuple[float, Action]]:
        request = client.request
        if request is None:
            if client is self.judge and self._looks:
                return [(1.0, lambda: self._send(client, self._looks.pop(0)))]
            return [(1.0, lambda: self._next(client))] if client.left > 0 else []
        if request.over or request.cut:
            return [(2.0, lambda: self._hear(client))]
        found: list[tuple[float, Action]] = []
        if request.waits:
            found.append((2.0, request.arrive))
        if self._final:
            return found
        call = client.call
        watching = call is not None and call.kind == "events"
        chances = self.plan.chances
        cut = chances["cut"] / self.plan.patience
        found.append((0.3 if watching else cut, request.disconnect))
        found.append((chances["cancel"], lambda: self._cancel(client)))
        return found

    def _next(self, client: Client) -> None:
        client.left -= 1
        recipe = client.draw(self.plan.operations)
        if recipe is not None:
            self._send(client, recipe)

    def _send(self, client: Client, recipe: Recipe) -> None:
        request = client.send(recipe, self._step, self.loop.now)
        if client.call is not None:
            client.call.final = self._final
            client.call.sessions = [line.session for line in self._lines(client.call.name)]
            client.known = {*self.truth.lines}
            client.seen = seen_of(client.call)
            if client.seen is not None:
                self.checker.sent(client.seen)
        app = self.apps[0] if len(self.apps) == 1 else self.lot.choice(self.apps)
        request.start(app, self.loop)

    def _hear(self, client: Client) -> None:
        call, request = client.call, client.request
        assert call is not None
        assert request is not None
        self._left.append(request)  # its client has gone, and it may still be served
        lines = [one for one in self.truth.lines.values() if one.name == call.name]
        who = call.producer or call.about
        call.durable_next = max((one.next.get(who, 0) for one in lines), default=0)
        new = {one.session for one in lines} - client.known  # it may be deleted again
        call.sessions = sorted({*call.sessions, *new})
        client.heard(self._step, self.loop.now, max((one.t for one in lines), default=0))
        if client.seen is not None and client.seen.session == f"{call.name} {call.sessions}":
            self.trouble += self.checker.heard(answered(client.seen, call))
        elif client.seen is not None:
            self.checker.forget(client.seen)

    def _lines(self, name: str) -> list[Line]:
        """The sessions that a name may stand for."""
        return [one for one in self.truth.lines.values() if one.name == name and not one.deleted]

    def _cancel(self, client: Client) -> None:
        assert client.request is not None
        client.request.cancel()

    def _all_done(self) -> bool:
        idle = all(one.request is None and one.left <= 0 for one in self.clients)
        return (
            idle
            and all(one.over for one in self._left)
            and all(one.idle for one in SimulatedThread.started)
            and not self.loop.jobs
            and not self._server.late
            and self.judge.request is None
            and not self._looks
            and not self._over
        )

    def _finish(self) -> None:
        """End the work and have a look at what came of it; after the look stop the process."""
        assert self._stop is not None
        if not self._final:
            self._final, self._looks = 1, [*self._looking()]
            self._faults.end()
            self._server.chances.end()
            self.loop.now += SETTLED
            self._disk.failing, self._disk.cut_at = range(0), None
            return
        self._over = True
        self._stop.set()

    def _crash(self) -> None:
        raise Crash

    def _kill(self) -> None:
        """One replica is gone with all it was doing; the others go on."""
        app = self.apps.pop(self.lot.randrange(len(self.apps)))
        self.kills += 1
        self._threads[id(app)].kill()
        for client in self.clients:
            if client.request is not None and client.request.app is app:
                client.request.disconnect()
                client.request.whole = False
                self._hear(client)

    def _go_back(self) -> None:
        """The clock of the machine is set back; that of the loop is not."""
        self._behind += self.lot.choice((0.5, 5.0, 30.0))

    def _job(self) -> None:
        jobs = self.loop.jobs
        jobs.pop(self.lot.randrange(len(jobs)))()

    def _jump(self) -> None:
        self.loop.now += self.lot.choice((0.2, 3.0, 12.0, 25.0))

    def _fail(self) -> None:
        """Let some of the next calls of the disk fail, or cut the power at one of them."""
        disk, first = self._disk, self._disk.calls + self.lot.randrange(1, 12)
        if self.lot.random() < 0.4:
            disk.cut_at = disk.lasting + self.lot.randrange(1, 12)
        else:
            disk.failing = range(first, first + self.lot.choice((1, 1, 2, 8)))
            disk.full = self.lot.random() < 0.5

    def _open_store(self, _: str) -> Store:
        inner: Store = self._memory
        if self.plan.engine == "sqlite":
            inner = SQLite(self.folder / "llr.db", self._disk.connect)
        if self.plan.engine == "postgres":
            inner = Postgres(address(DATABASE))
            return SharedRecorder(inner, self.lot, self._faults, self.truth)
        return Recorder(inner, self.lot, self._faults, self.truth)

    def _crashed(self) -> None:
        """Nobody hears anything any more; the disk is what a kill or a power cut leaves."""
        self.crashes += 1
        for client in self.clients:
            if client.request is not None:
                client.request.disconnect()
                client.request.whole = False
                self._hear(client)
        if self._disk.dead or self.lot.random() < 0.5:
            self._disk.dead = True
            self._disk = self._disk.after_cut(self.lot)
        else:
            self._disk.dead = True
            self._disk = self._disk.after_kill()

    def _end_loop(self) -> None:
        """Give up what is left of a process without letting it reach the store or a client."""
        old, self.apps = self.loop, []
        SimulatedThread.started.clear()
        self._left.clear()
        old.outside = lambda timeout: timeout or 0.0
        for _ in range(20):
            tasks = asyncio.all_tasks(old)
            if not tasks:
                break
            old.jobs.clear()
            for task in tasks:
                task.cancel()
            with suppress(BaseException):
                old.run_until_complete(asyncio.wait(tasks, timeout=1.0))
        old.run_until_complete(old.shutdown_asyncgens())
        old.close()
        self.loop = SimulatedLoop(self._outside, old.now)
        self.loop.set_exception_handler(lambda _, __: None)
        self._since = old.now

    @contextmanager
    def _patched(self) -> Iterator[None]:
        """The service with its time, its randomness, its thread and its store from here."""
        sessions, postgres = "llr_service.sessions", "llr_service.stores.postgres.connection"
        thread = SimpleNamespace(Thread=SimulatedThread)
        with ExitStack() as stack:
            for name, stand_in in {
                "llr_service.app.open_store": self._open_store,
                "llr_service.app.llr.prepare": lambda: None,
                "anyio.to_thread.run_sync": in_executor,
                f"{sessions}.committer.threading": thread,
                f"{postgres}.connect": self._server.connect,
                f"{postgres}.time": SimpleNamespace(monotonic=lambda: self.loop.now),
                f"{sessions}.session_log.randbits": self.lot.getrandbits,
                f"{sessions}.consistency.random": self.lot,
                "llr_service.routes.events.perf_counter": lambda: self.loop.now,
            }.items():
                stack.enter_context(patch(name, stand_in))
            if self.plan.inline:
                inline = f"{sessions}.session.INLINE_LEARN_BYTES"
                for name in (inline, "llr_service.routes.learning.INLINE_DECODE_BYTES"):
                    stack.enter_context(patch(name, self.plan.inline))
            logging.disable(logging.CRITICAL)
            stack.callback(logging.disable, logging.NOTSET)
            SimulatedThread.started.clear()
            self.loop.set_exception_handler(lambda _, __: None)
            yield


def run(seed: int, plan: Plan) -> World:
    """One run in a folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="simulation-"))
    world = World(seed, plan, folder)
    try:
        world.run()
    except Stuck as stuck:
        world.trouble.append(f"stuck: {stuck}")
        world._end_loop()
    finally:
        world.loop.close()
        shutil.rmtree(folder)
    return world
