"""Build the documentation site from docs/ with Zensical: `make docs`.

The site goes to service/llr_service/guide/site, from where the service serves it at /guide under
the dashboard's Content-Security-Policy. That policy allows nothing inline and no data: URLs, so
inline scripts and images in style sheets are moved to files of their own, and the search adopts its
style sheet. Nothing is loaded from another host.
"""

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from urllib.parse import unquote_to_bytes

ROOT = Path(__file__).parents[1]
SITE = ROOT / "service/llr_service/guide/site"
OUTSIDE = ("bench/RESULTS.md", "bench/REGRET.md", "examples/README.md")
"""Pages of other folders that docs/ links to."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\((\.\./[^)#\s]+|[\w./-]+\.py)(#[^)]*)?\)")
SCRIPT = re.compile(r"<script>(.+?)</script>", re.DOTALL)
DATA = re.compile(r"""url\((["']?)data:([\w/+.-]+)((?:;[\w=-]+)*),(.*?)\1\)""", re.DOTALL)
SHADOW_STYLE = re.compile(r"(\w+)\.appendChild\(\w+\(\"style\",\{\},(\w+)\.toString\(\)\)\)")
"""The search dialog of Zensical, which makes a style element in its shadow tree."""
ADOPTED = r"(s=>{s.replaceSync(\2.toString());\1.adoptedStyleSheets=[s]})(new CSSStyleSheet)"
ALIGNED = re.compile(r'style="text-align: (\w+);"')
PAGE = re.compile(r"\]\(([\w-]+)\.md\)")
SUFFIXES = {"image/svg+xml": ".svg", "image/png": ".png"}


class Broken(Exception):
    """The site was not built, or has links that lead nowhere."""


def collect(pages: Path) -> None:
    """Copy docs/ and the pages that it links to, with links that fit the site."""
    shutil.copytree(ROOT / "docs", pages)
    for name in OUTSIDE:
        (pages / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, pages / name)
        for picture in (ROOT / name).parent.rglob("*.svg"):
            copied = pages / picture.relative_to(ROOT)
            copied.parent.mkdir(exist_ok=True)
            shutil.copy(picture, copied)
    for page in pages.rglob("*.md"):
        page.write_text(LINK.sub(partial(_link, page, pages), page.read_text()))


def _link(page: Path, pages: Path, found: re.Match[str]) -> str:
    """A link inside the site; its text alone if it leads to a file that is no page."""
    mark, text, target, anchor = found.groups()
    depth = len(page.relative_to(pages).parts) - 1
    name = target.removeprefix("../").removeprefix("docs/")
    if not (pages / name).is_file():
        return text if not mark else ""
    return f"{mark}[{text}]({'../' * depth}{name}{anchor or ''})"


def externalize(site: Path) -> None:
    """Move inline scripts and data: images to files, and styles to attributes."""
    for page in site.rglob("*.html"):
        up = "../" * (len(page.relative_to(site).parts) - 1)
        text = SCRIPT.sub(partial(_script, site, up), page.read_text())
        page.write_text(ALIGNED.sub(r'align="\1"', text))
    found = 0
    for bundle in site.glob("assets/javascripts/bundle.*.js"):
        text, count = SHADOW_STYLE.subn(ADOPTED, bundle.read_text())
        bundle.write_text(text)
        found += count
    if found != 1:
        raise Broken(f"the style of the search was found {found} times, not once: see SHADOW_STYLE")
    for style in site.rglob("*.css"):
        style.write_text(DATA.sub(partial(_image, style.parent), style.read_text()))


def list_pages(site: Path) -> None:
    """Point the links of llms.txt at the site's pages."""
    listed = site / "llms.txt"
    listed.write_text(PAGE.sub(r"](/guide/\1/)", listed.read_text()))


def _script(site: Path, up: str, found: re.Match[str]) -> str:
    text = found[1]
    name = f"assets/javascripts/inline-{_digest(text.encode())}.js"
    (site / name).write_text(text)
    return f'<script src="{up}{name}"></script>'


def _image(folder: Path, found: re.Match[str]) -> str:
    _, kind, parameters, data = found.groups()
    body = unquote_to_bytes(data)
    if ";base64" in parameters:
        body = base64.b64decode(body)
    name = f"{_digest(body)}{SUFFIXES[kind]}"
    (folder / name).write_bytes(body)
    return f"url({name})"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def build(site: Path = SITE) -> None:
    """Build the site into a folder, which is emptied first."""
    with tempfile.TemporaryDirectory(prefix="llr-docs-") as name:
        folder = Path(name)
        shutil.copy(ROOT / "zensical.toml", folder)
        collect(folder / "pages")
        done = subprocess.run(
            [sys.executable, "-m", "zensical", "build", "--strict"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Broken(f"{done.stdout}{done.stderr}")
        externalize(folder / "site")
        list_pages(folder / "site")
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(folder / "site", site)


if __name__ == "__main__":
    try:
        build()
    except Broken as broken:
        sys.exit(f"make docs: {broken}")
    sys.stdout.write(f"{SITE.relative_to(ROOT)}: {len([*SITE.rglob('*.html')])} pages\n")
