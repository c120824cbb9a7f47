"""What-ifs that something comes in the way of: a name used again, a bound that became smaller."""

import pytest
from llr_service.app import App
from llr_service.problems import Problem
from llr_service.sessions.session import Session
from llr_service.settings import Settings
from support.app import Stub, running, until
from support.what_ifs import A, B, Gate, done, fresh, source, state, what_if

pytestmark = pytest.mark.anyio


async def test_one_that_is_made_while_the_last_of_its_name_ends_is_seen_to(
    store: Stub, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        await source(http)
        await what_if(http)
        registry = app.context.sessions

        async def made_too_late(name: str) -> Session:
            try:
                return await registry.get(name)
            except Problem:
                await what_if(http, algorithm="sg/sg")
                raise

        monkeypatch.setattr(registry.replay_worker, "_get", made_too_late)
        assert (await http.delete(B)).status_code == 204
        gate.open()
        await until(lambda: registry.peek("b"))
        await done(http)
        assert (await http.get(f"{B}/snapshot")).json()["state"] == fresh("sg/sg")


async def test_a_smaller_bound_after_a_restart_does_not_cut_it(store: Stub, gate: Gate) -> None:
    async with running(App(Settings(store="memory:"))) as http:
        await source(http)
        await what_if(http)
        gate.open(2)
        await until(lambda: gate.asked == 3)
    async with running(App(Settings(store="memory:", max_retained=2000))) as http:
        added = await http.put(f"{A}/shadows/rival", json={"algorithm": "sg"})  # a snapshot
        assert added.status_code == 201
        gate.open()
        ended = await done(http)
        assert (ended["t"], ended["status"]) == (600, "ok")
        assert (await state(http, A))["retained"]["samples"] == 600
