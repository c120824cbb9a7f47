"""`POST /v1/backup`: one at a time, and not for web pages of elsewhere."""

from pathlib import Path

import pytest
from llr_service.app import App
from llr_service.problems import Problem
from llr_service.routes import operations
from llr_service.settings import Settings
from starlette.testclient import TestClient

BACKUP = "/v1/backup"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_elsewhere_may_not(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.post(BACKUP, headers=headers)
    assert answer.status_code == 403
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "headers", [{}, {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}]
)
def test_programs_and_its_own_pages_may(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.post(BACKUP, headers=headers)
    assert answer.status_code == 200
    assert answer.content.startswith(b"SQLite format 3\0")


def test_pages_of_a_known_origin_may(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/a.db", cors_origins=("http://known.example",))
    with TestClient(App(settings)) as client:
        known = {"Origin": "http://known.example", "Sec-Fetch-Site": "cross-site"}
        assert client.post(BACKUP, headers=known).status_code == 200


def test_there_is_one_at_a_time(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = []
    parts = operations._parts

    def meanwhile(copy: object) -> object:
        refused.append(client.post(BACKUP))
        yield from parts(copy)  # type: ignore[arg-type]

    monkeypatch.setattr(operations, "_parts", meanwhile)
    assert client.post(BACKUP).status_code == 200
    [other] = refused
    assert other.status_code == 429
    assert int(other.headers["Retry-After"]) > 0
    monkeypatch.undo()
    assert client.post(BACKUP).status_code == 200


def test_a_failed_one_makes_room(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(_: object) -> None:
        raise Problem("disk-full", "there is no room")

    monkeypatch.setattr(operations, "_copy", fails)
    assert client.post(BACKUP).status_code == 507
    monkeypatch.undo()
    assert client.post(BACKUP).status_code == 200
