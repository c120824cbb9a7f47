"""Background tasks of a store: what is measured, and that a store that is away ends nothing."""

import asyncio
import logging
from pathlib import Path

import pytest
from llr_service.app import App
from llr_service.metrics import Metrics
from llr_service.sessions import housekeeping
from llr_service.sessions.committer import Committer
from llr_service.sessions.housekeeping import Housekeeping
from llr_service.sessions.storage import Storage
from llr_service.settings import Settings
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import CreateSession, StoreUnavailable
from starlette.testclient import TestClient
from support.app import Stub, settle

DEMO = "/v1/sessions/demo"


def values(metrics: Metrics) -> dict[str, float]:
    return {
        sample.name: sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
    }


@pytest.mark.anyio
async def test_sessions_and_bytes_of_the_store_are_measured(tmp_path: Path) -> None:
    metrics = Metrics()
    committer = Committer(SQLite(tmp_path / "llr.db"), metrics)
    keeping = Housekeeping(Storage(committer), metrics)
    sizes = []
    for name in ("a", "b"):
        await committer.commit(CreateSession(name, b"{}", 1, bytes(500_000))).wait()
        await keeping.measure()
        sizes.append(values(metrics)["llr_store_bytes"])
    assert values(metrics)["llr_sessions"] == 2
    files = sum(file.stat().st_size for file in tmp_path.glob("llr.db*"))
    assert 500_000 < sizes[0] < sizes[1] <= files
    await committer.close()


@pytest.mark.anyio
async def test_a_store_that_is_away_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(housekeeping, "MEASURE_SECONDS", 0.0)
    caplog.set_level(logging.WARNING)
    store, metrics, tries = Stub(), Metrics(), 0

    def count() -> int:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise StoreUnavailable("away")
        return 7

    store.count = count  # type: ignore[method-assign]
    committer = Committer(store, metrics)
    running = asyncio.create_task(Housekeeping(Storage(committer), metrics).run())
    async with asyncio.timeout(20):
        while values(metrics)["llr_sessions"] != 7:
            await settle()
    running.cancel()
    await asyncio.wait([running])
    assert [record.message for record in caplog.records if record.levelno == logging.WARNING][
        :2
    ] == ["a background task failed"] * 2
    await committer.close()


def test_drift_alarms_are_counted_once_whichever_way_they_are_learnt() -> None:
    app = App(Settings(store="memory:"))
    with TestClient(app) as client:
        client.put(DEMO, json={"model": "gaussian", "algorithm": "sg"})
        rows = [{"y": 0.01 * (k % 3)} for k in range(600)] + [
            {"y": 100.0 + k % 3} for k in range(600)
        ]
        for k in range(0, len(rows), 100):
            assert client.post(f"{DEMO}/samples", json=rows[k : k + 100]).status_code == 200
        alarms = client.get(DEMO).json()["drift"]["alarms"]
        assert alarms > 0
        assert values(app.context.metrics)["llr_drifts_total"] == alarms
