"""llr.compat.narwhals: frames of three libraries are samples by column name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import llr
from llr.compat.narwhals import rows

COLUMNS: dict[str, list[Any]] = {
    "rooms": [3, 2, 4, 1] * 10,
    "size": [70.5, None, 91.0, 33.0] * 10,
    "city": ["Rome", "Oslo", None, "Rome"] * 10,
    "lift": [True, False, False, True] * 10,
    "price": [2.1, 1.2, 2.5, 0.9] * 10,
    "importance": [1.0, 2.0, 0.5, 0.0] * 10,
}
FEATURES = ["rooms", "size", "city", "lift"]
OBJECTS = [
    {name: COLUMNS[name][i] for name in FEATURES if COLUMNS[name][i] is not None} for i in range(40)
]
MAKERS = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.fixture(params=MAKERS, ids=["pandas", "polars", "pyarrow"])
def make(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return request.param  # type: ignore[no-any-return]


def test_a_frame_is_learnt_as_its_rows_are(make: Callable[[Any], Any]) -> None:
    expected = llr.NamedLearner("linear")
    assert expected.learn(OBJECTS, COLUMNS["price"], w=COLUMNS["importance"])
    learner, frame = llr.NamedLearner("linear"), make(COLUMNS)
    assert learner.learn(frame, "price", w="importance").accepted == 40
    assert learner.pack() == expected.pack()
    assert learner.predict(frame).tolist() == expected.predict(OBJECTS).tolist()
    assert learner.interval(frame).lower.shape == (40,)


def test_labels_may_come_beside_the_frame(make: Callable[[Any], Any]) -> None:
    frame = make({name: COLUMNS[name] for name in FEATURES})
    by_column, beside = llr.NamedLearner("linear"), llr.NamedLearner("linear")
    assert by_column.learn(make({k: v for k, v in COLUMNS.items() if k != "importance"}), "price")
    assert beside.learn(frame, make(COLUMNS)["price"])
    assert by_column.pack() == beside.pack()


def test_the_order_of_columns_does_not_matter(make: Callable[[Any], Any]) -> None:
    learner = llr.NamedLearner("linear")
    assert learner.learn(make(COLUMNS), "price", w="importance")
    turned = make({name: COLUMNS[name] for name in reversed(FEATURES)})
    assert np.allclose(learner.predict(turned), learner.predict(OBJECTS), rtol=1e-12)


def test_a_column_of_classes(make: Callable[[Any], Any]) -> None:
    learner, expected = (llr.NamedLearner("softmax", classes=["cheap", "dear"]) for _ in range(2))
    words = ["dear" if price > 1.0 else "cheap" for price in COLUMNS["price"]]
    frame = make({"rooms": COLUMNS["rooms"], "class": words})
    assert learner.learn(frame, "class").accepted == 40
    assert expected.learn([{"rooms": n} for n in COLUMNS["rooms"]], words)
    assert learner.pack() == expected.pack()


def test_categories_and_nullable_numbers_of_pandas() -> None:
    city = pd.Categorical(COLUMNS["city"])
    whole = pd.array([1, None] * 20, dtype="Int64")
    found = rows(pd.DataFrame({"city": city, "whole": whole}))
    assert found.names == ["city=Rome", "whole", "city=Oslo"]
    assert np.diff(found.starts)[:4].tolist() == [2, 1, 1, 1]


def test_values_that_cannot_be_features_are_refused_by_name() -> None:
    lists = pl.DataFrame({"a": [[1, 2]], "y": [1.0]})
    with pytest.raises(llr.DtypeError, match=r"x\.a: must be numbers, true or false, or strings"):
        llr.NamedLearner("linear").learn(lists, "y")
    with pytest.raises(llr.NotFiniteError, match=r"sample 1: x\.a: is not finite"):
        llr.NamedLearner("linear").learn(pl.DataFrame({"a": [1.0, float("inf")]}), [1.0, 2.0])
    with pytest.raises(llr.FeatureError, match="price: is no column of the frame"):
        llr.NamedLearner("linear").learn(pl.DataFrame({"a": [1.0]}), "price")
    with pytest.raises(llr.DtypeError, match="a name must be a string, not 0"):
        llr.NamedLearner("linear").learn(pd.DataFrame([[1.0]]), [1.0])
    with pytest.raises(llr.SampleError):
        rows(pl.LazyFrame({"a": [1.0]}))
