"""docs/compat.md: every snippet gives what the page shows."""

import doctest

from support.root import ROOT


def test_every_snippet_gives_what_the_page_shows() -> None:
    result = doctest.testfile(str(ROOT / "docs/compat.md"), module_relative=False)
    assert result.attempted > 10
    assert result.failed == 0
