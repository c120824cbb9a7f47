"""`index.html`: all figures on one page, each with its sentence. Nothing comes from elsewhere."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from llr_cli.figures.gallery import Picture
from llr_cli.replay.claims import Claim

HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Speed learning on the fly, replayed</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
figure { margin: 0 0 3rem; }
img { width: 100%; height: auto; background: white; border-radius: 6px; }
figcaption { margin-top: .6rem; }
figcaption b { margin-right: .4rem; }
table { border-collapse: collapse; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #8c959f55; text-align: left; }
</style>
"""


READ = (
    "Colours go from dark to light with the first step size. Where runs explode, the shaded parts"
    " of an axis are logarithmic; a bar above a panel says that a run is beyond even these, a cross"
    " that it diverged. Every picture leads to itself as SVG."
)


def write_page(
    out: Path, pictures: Iterable[Picture], about: str, claims: Sequence[Claim] = (), seeds: int = 0
) -> Path:
    """Write the page beside the pictures, with the claims below; where it is."""
    parts = [HEAD, "<h1>Speed learning on the fly, replayed</h1>", f"<p>{escape(about)} {READ}</p>"]
    parts += [_figure(picture) for picture in pictures]
    parts += _table(claims, seeds) if claims else []
    page = out / "index.html"
    page.write_text("\n".join([*parts, "</html>", ""]), encoding="utf-8")
    return page


def _table(claims: Iterable[Claim], seeds: int) -> list[str]:
    """The claims of the paper's Section 3, and what came of them."""
    heads = "".join(f"<th>{word}</th>" for word in ("the paper says", "measured", "found", ""))
    rows = ["".join(f"<td>{escape(cell)}</td>" for cell in claim) for claim in claims]
    about = f"Measured on seeds 0 to {seeds - 1} and seven decades of η₀."
    return [
        f'<h2 id="claims">Section 3, claim by claim</h2><p>{about}</p><table><tr>{heads}</tr>',
        *(f"<tr>{row}</tr>" for row in rows),
        "</table>",
    ]


def _figure(picture: Picture) -> str:
    name, see = escape(picture.name), escape(picture.see)
    number = int(picture.name[:2])
    return (
        f'<figure id="{name}"><a href="{name}.svg"><img src="{name}.png" alt="{see}"'
        f' loading="lazy"></a>\n<figcaption><b>Figure {number}.</b>{see}</figcaption></figure>'
    )
