"""The documentation site in a real Chromium, under the service's policy: its search."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from llr_service import guide
from llr_service.routes.dashboard import HEADERS
from support.browser import Page

from scripts import docs

pytestmark = pytest.mark.slow
DIALOG = "[...document.querySelectorAll('body > div')].find((one) => one.shadowRoot).shadowRoot"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site that was just built, with the headers and files that the service would send."""
    site = tmp_path_factory.mktemp("guide") / "site"
    docs.build(site)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = guide.find(self.path.partition("?")[0].removeprefix("/guide/"), site)
            self.send_response(404 if found is None else 200)
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.send_header("content-type", "text/plain" if found is None else found.kind)
            self.end_headers()
            self.wfile.write(b"" if found is None else found.body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_search_finds_a_page_and_looks_as_it_should(
    page: Page, address: str, tmp_path: Path, theme: str
) -> None:
    page.prefer(prefers_color_scheme=theme)
    page.open(f"{address}/guide/")
    ground = page.run("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (theme == "light")
    page.click(".md-search__button")
    page.until(f"{DIALOG}.activeElement?.matches('input')")
    page.type("hindsight")
    found = page.until(
        f"[...{DIALOG}.querySelectorAll('a')].filter((one) => one.href).map((one) => one.href)[0]"
    )
    assert found.startswith(f"{address}/guide/")
    # without its style sheet the dialog is plain text from the left edge on
    style = f"getComputedStyle({DIALOG}.activeElement)"
    page.until(f"{style}.borderTopWidth === '0px'")
    page.open(found)
    assert "hindsight" in page.run("document.body.innerText")
