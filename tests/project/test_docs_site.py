"""The documentation site: it builds, its links lead somewhere, and nothing comes from elsewhere."""

import re
import tomllib
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from llr_service.guide import find
from support.root import ROOT

from scripts import docs, reference

pytestmark = pytest.mark.slow  # zensical builds the site for seconds
PAGES = sorted(path.name for path in (ROOT / "docs").glob("*.md"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    docs.build(folder)
    return folder


@pytest.mark.parametrize("name", reference.FILES)
def test_generated_files_are_as_the_code_is(name: str) -> None:
    assert (ROOT / name).read_text() == reference.FILES[name](), "make docs"


def test_every_page_is_in_the_navigation_and_in_llms_txt() -> None:
    text = (ROOT / "zensical.toml").read_text()
    parts = [part for one in tomllib.loads(text)["project"]["nav"] for part in one]
    assert parts == ["Start", "How-to", "Reference", "Explanation"]
    named = set(re.findall(r'"([\w-]+\.md)"', text))
    assert named == set(PAGES)
    listed = (ROOT / "docs/llms.txt").read_text()
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", listed)) == set(PAGES) - {"index.md"}


def test_every_link_leads_to_a_file_and_an_anchor_that_exist(site: Path) -> None:
    pages = {path: path.read_text() for path in site.rglob("*.html") if path.name != "404.html"}
    anchors = {path: set(re.findall(r'\bid="?([^"\s>]+)', text)) for path, text in pages.items()}
    checked = 0
    for page, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (page.parent / unquote(url.path)).resolve() if url.path else page
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), (page, link)
            if url.fragment and target in anchors:
                assert unquote(url.fragment) in anchors[target], (page, link)
            checked += 1
    assert checked > 1000


def test_the_links_of_llms_txt_are_pages_of_the_site(site: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text())
    assert len(links) == len(PAGES) - 1
    for link in links:
        assert link.startswith("/guide/")
        assert find(link.removeprefix("/guide/"), site) is not None, link


def test_nothing_is_inline_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text()
        assert not re.search(r"<script>|<style|\sstyle=|\son\w+=", text), page
        assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="?https?:', text), page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:|data:)", style.read_text()), style
