"""The guide: what is served of a built site, and what is not."""

from pathlib import Path

import pytest
from llr_service import guide
from llr_service.routes.dashboard import HEADERS
from starlette.testclient import TestClient


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    (folder / "api").mkdir(parents=True)
    (folder / "index.html").write_text("<p>start")
    (folder / "api/index.html").write_text("<p>api")
    (folder / "search.json").write_text("{}")
    (folder / "llms.txt").write_text("# LLR")
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.setattr(guide.find, "__defaults__", (folder,))
    return folder


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/guide", "<p>start", "text/html"),
        ("/guide/", "<p>start", "text/html"),
        ("/guide/api", "<p>api", "text/html"),
        ("/guide/api/", "<p>api", "text/html"),
        ("/guide/search.json", "{}", "application/json"),
        ("/guide/llms.txt", "# LLR", "text/plain"),
        ("/llms.txt", "# LLR", "text/plain"),
    ],
)
def test_a_page_comes_with_the_policy_of_the_dashboard(
    client: TestClient, site: Path, path: str, body: str, kind: str
) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.text) == (200, body)
    assert answer.headers["content-type"].startswith(kind)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    again = client.get(answer.url.path, headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    "path", ["missing/", "../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt"]
)
def test_there_is_nothing_else(client: TestClient, site: Path, path: str) -> None:
    assert client.get(f"/guide/{path}").status_code == 404


def test_an_installation_without_a_site_says_how_to_build_it(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide.find, "__defaults__", (tmp_path / "none",))
    for path in ("/guide/", "/llms.txt"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
        assert "make docs" in answer.text
