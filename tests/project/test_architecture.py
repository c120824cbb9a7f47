"""docs/architecture.md: every file it names exists, and its tables list what the code has."""

import dataclasses
import re

from support.root import ROOT

from llr.models import Model

PAGE = (ROOT / "docs" / "architecture.md").read_text()


def test_every_file_named_exists() -> None:
    names = re.findall(r"`((?:llr|service|clients|tests)/[\w./]+)`", PAGE)
    assert len(names) > 30
    for name in names:
        assert name.endswith("yours.py") or (ROOT / name).exists(), name


def test_every_page_it_links_to_exists() -> None:
    for link in re.findall(r"\]\(([\w./-]+)[)#]", PAGE):
        assert (ROOT / "docs" / link).exists(), link


def test_every_field_of_a_model_is_explained() -> None:
    (table,) = re.findall(r"\| field of `Model`.*?\n\n", PAGE, re.DOTALL)
    for field in dataclasses.fields(Model):
        assert re.search(rf"`{field.name}[`(]", table), field.name


def test_the_vocabulary_has_twenty_words() -> None:
    table = PAGE.split("## Vocabulary")[1].split("## How to add")[0]
    assert len(re.findall(r"^\| ", table, re.MULTILINE)) - 1 == 20
