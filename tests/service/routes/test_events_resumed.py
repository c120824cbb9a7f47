"""Who comes back to a stream of events is told all that may have changed."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from llr_service.app import App
from llr_service.settings import Settings
from support.app import DEMO, SAMPLES, running
from support.events import Reader, served

pytestmark = pytest.mark.anyio
Change = tuple[str, str, dict[str, str] | None]
ADD: Change = ("PUT", "/shadows/rival", {"algorithm": "sg"})
OTHER: Change = ("PUT", "/shadows/rival", {"algorithm": "sg/ag"})
REMOVE: Change = ("DELETE", "/shadows/rival", None)
PROMOTE: Change = ("POST", "/promote", {"name": "rival"})
BACK: Change = ("POST", "/promote", {"name": "auto"})


async def change(http: httpx.AsyncClient, *changes: Change) -> None:
    for method, below, body in changes:
        changed = await http.request(method, f"{DEMO}{below}", json=body)
        assert changed.is_success, changed.text


async def seen(app: App) -> tuple[dict[str, Any], bytes]:
    """The present state and its id, for one who leaves again."""
    reader = Reader(app)
    state = await reader.state()
    await reader.leave()
    return state, reader.id.encode()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ([], [ADD]),
        ([ADD], [REMOVE]),
        ([ADD], [PROMOTE]),
        ([ADD], [REMOVE, OTHER]),
        ([ADD, PROMOTE], [BACK]),
    ],
    ids=["added", "removed", "promoted", "replaced", "promoted back"],
)
async def test_who_was_away_while_the_team_changed_at_the_same_t_is_told(
    first: list[Change], then: list[Change]
) -> None:
    async with served() as (app, http):
        await http.post(SAMPLES, json={"y": [1, 2]})
        await change(http, *first)
        before, last = await seen(app)
        await change(http, *then)
        reader = Reader(app, (b"last-event-id", last))
        told = await reader.state()
        assert told == (await http.get(DEMO)).json() != before
        assert told["t"] == before["t"]
        await reader.leave()


async def test_the_id_is_t_whatever_the_team() -> None:
    async with served() as (app, http):
        await http.post(SAMPLES, json={"y": [1, 2]})
        await change(http, ADD, PROMOTE)
        assert (await seen(app))[1] == b"2"


async def test_who_knows_all_is_told_of_what_follows() -> None:
    async with served() as (app, http):
        await http.post(SAMPLES, json={"y": [1, 2]})
        _, last = await seen(app)
        reader = Reader(app, (b"last-event-id", last))
        assert await reader.part() == b"retry: 1000\n\n"
        await http.post(SAMPLES, json={"y": 3})
        assert (await reader.state())["t"] == 3
        await reader.leave()


async def test_who_was_away_over_a_restart_is_told_that_a_shadow_went(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/llr.db")
    app = App(settings)
    async with running(app) as http:
        await http.put(DEMO, json={"model": "gaussian"})
        await http.post(SAMPLES, json={"y": [1, 2]})
        await change(http, ADD)
        before, last = await seen(app)
        assert before["shadows"]
        await change(http, REMOVE)
    app = App(settings)
    async with running(app) as http:
        reader = Reader(app, (b"last-event-id", last))
        assert (await reader.state())["shadows"] == {}
        await reader.leave()


async def test_who_knows_the_t_alone_gets_the_present_state_of_a_team() -> None:
    async with served() as (app, http):
        await change(http, ADD)
        reader = Reader(app, (b"last-event-id", b"0"))
        assert [*(await reader.state())["shadows"]] == ["rival"]
        await reader.leave()


async def test_who_comes_back_to_a_session_that_diverged_is_told_so() -> None:
    wild = {"model": "linear", "dim": 1, "algorithm": "sg", "eta0": 1e6}
    far = {"x": [[1e100]] * 5, "y": [1.0] * 5}
    async with served() as (app, http):
        await http.delete(DEMO)
        await http.put(DEMO, json=wild)
        _, last = await seen(app)
        assert (await http.post(SAMPLES, json=far)).status_code == 409
        reader = Reader(app, (b"last-event-id", last))
        assert (await reader.state())["status"] == "diverged"
        await reader.leave()
