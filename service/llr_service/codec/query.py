"""Predict bodies: a row or rows, and the ids under which they are to be kept."""

from typing import Any, NamedTuple

from llr import NamedRows
from llr.types import Vector
from llr_service.codec.errors import name_of
from llr_service.codec.exact import Inspector
from llr_service.codec.json import decode_rows
from llr_service.codec.labels import checked_id


class Query(NamedTuple):
    """What a prediction is asked for.

    Attributes:
        rows: a row each; None for models without features.
        single: whether it was a single row without its outer list.
        ids: an id a row, empty if nothing is to be kept.
    """

    rows: Vector | NamedRows | None
    single: bool
    ids: list[str]


class QueryInspector(Inspector):
    """Reads a predict body that has an `id`, or `ids`."""

    def __init__(self, features: bool) -> None:
        super().__init__(features)
        self.ids: list[str] = []

    def identified(self, value: Any) -> None:
        """A row and its id, or rows and theirs."""
        if type(value) is not dict:
            self.query(value)
            return
        self.query({key: each for key, each in value.items() if key not in ("id", "ids")})
        if self._features and "x" not in value:
            return
        self.single = self.single if self._features else "ids" not in value
        wanted, other = ("id", "ids") if self.single else ("ids", "id")
        if other in value:
            self.errors.add(f"/{other}", "one row has an id, a list of rows has ids")
        elif self.single and wanted in value:
            self.ids.append(checked_id(self, value["id"], "/id"))
        elif wanted in value:
            self._many(value["ids"])

    def _many(self, ids: Any) -> None:
        if type(ids) is not list:
            self.errors.add("/ids", f"must be a list of ids, not {name_of(ids)}")
        elif not ids or (self._features and len(ids) != self.found):
            self.errors.add("/ids", f"has {len(ids)} ids, there has to be one a row")
        else:
            for i, each in enumerate(ids):
                if self.errors.full:
                    return
                self.ids.append(checked_id(self, each, f"/ids/{i}"))


def decode_query(body: bytes, features: bool) -> Query:
    """The rows and ids of a predict body.

    >>> decode_query(b'{"x": [1, 2], "id": "a"}', features=True)
    Query(rows=array([[1., 2.]]), single=True, ids=['a'])
    >>> decode_query(b'{"ids": ["a", "b"]}', features=False)
    Query(rows=None, single=False, ids=['a', 'b'])
    """
    if b'"id' not in body:
        return Query(*decode_rows(body, features), [])
    inspector = QueryInspector(features)
    inspector.read(body, inspector.identified)
    rows = inspector.matrix()
    return Query(rows if features else None, inspector.single, inspector.ids)
