"""The dashboard's files as the service serves them: policy, caching, and what is in them."""

import re

import pytest
from llr_service.dashboard import ASSETS, PAGE
from llr_service.routes.dashboard import HEADERS, POLICY
from llr_service.sessions.config import SessionConfig
from starlette.testclient import TestClient

SCRIPTS = {name: one.body.decode() for name, one in ASSETS.items() if name.endswith(".js")}
STYLES = {name: one.body.decode() for name, one in ASSETS.items() if name.endswith(".css")}
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacent|document\.write|srcdoc|\beval\b|Function\("
)
HTML = ASSETS[PAGE].body.decode()


@pytest.mark.parametrize("path", ["/", *(f"/dashboard/{name}" for name in ASSETS)])
def test_every_file_comes_with_the_policy_and_its_content_type(
    client: TestClient, path: str
) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    asset = ASSETS[PAGE if path == "/" else path.rpartition("/")[2]]
    assert answer.content == asset.body
    assert answer.headers["content-type"] == asset.kind
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    head = client.head(path)
    assert head.status_code == 200
    assert head.content == b""


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere() -> None:
    assert "default-src 'none'" in POLICY
    assert "unsafe" not in POLICY
    assert "data:" not in POLICY
    assert not re.search(r"https?:", POLICY)


def test_a_browser_that_has_a_file_is_told_so_and_gets_it_anew_once_it_differs(
    client: TestClient,
) -> None:
    etag = client.get("/").headers["etag"]
    for known in (etag, f'"other", {etag}', f"W/{etag}"):
        again = client.get("/", headers={"if-none-match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == etag
    assert client.get("/", headers={"if-none-match": '"other"'}).status_code == 200
    assert len({asset.etag for asset in ASSETS.values()}) == len(ASSETS)


@pytest.mark.parametrize("name", ["missing.js", "__init__.py", "..%2fapp.py", "%2e%2e/app.py"])
def test_there_is_nothing_else_to_be_had(client: TestClient, name: str) -> None:
    answer = client.get(f"/dashboard/{name}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_every_file_that_is_named_is_there_and_every_file_is_named() -> None:
    named = set(re.findall(r'(?:src|href)="/dashboard/([^"]+)"', HTML))
    named |= {name for text in SCRIPTS.values() for name in re.findall(r'from "\./([^"]+)"', text)}
    assert named | {PAGE} == set(ASSETS)


def test_nothing_comes_from_elsewhere_and_nothing_is_inline() -> None:
    texts = {PAGE: HTML} | SCRIPTS | STYLES
    for name, text in texts.items():
        elsewhere = set(re.findall(r"https?://[^\"'\s`$)]+", text))
        assert elsewhere <= {"http://www.w3.org/2000/svg"}, name
    assert not re.search(r"<style|<script>|\sstyle=|\son\w+=", HTML)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_module_says_what_it_is_for_and_writes_text_never_markup(name: str) -> None:
    text = SCRIPTS[name]
    assert text.startswith("/**")
    assert len(text.splitlines()) <= 170
    assert max(len(line) for line in text.splitlines()) <= 100
    assert not MARKUP.search(text)


@pytest.mark.parametrize("name", STYLES)
def test_a_style_sheet_closes_what_it_opens(name: str) -> None:
    depth = 0
    for line in re.sub(r"/\*.*?\*/", "", STYLES[name], flags=re.DOTALL).splitlines():
        depth += line.count("{") - line.count("}")
        assert 0 <= depth <= 2, line
    assert depth == 0


def test_every_entry_of_a_config_is_explained() -> None:
    explained = set(re.findall(r"^  (\w+):\s", SCRIPTS["config.js"], flags=re.MULTILINE))
    assert set(SessionConfig.model_fields) - {"options"} <= explained


def test_every_term_that_is_asked_about_is_in_the_glossary() -> None:
    terms = re.findall(r'^  (?:"([^"]+)"|([^\s"]+)):', SCRIPTS["glossary.js"], flags=re.MULTILINE)
    known = {quoted or bare for quoted, bare in terms}
    asked = {
        word
        for text in SCRIPTS.values()
        for word in re.findall(r'\b(?:term|explain|meaning)\("([^"]+)"\)', text)
    }
    assert asked
    assert asked <= known
