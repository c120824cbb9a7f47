from typing import Any

import numpy as np
import pytest

import llr
from llr.validation import rows


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([1, 2], 3),
        ([[1, 2]], [3]),
        (np.array([[1, 2]], np.int32), np.array([3], np.uint8)),
        (np.array([[1, 2]], np.float32), 3.0),
        (np.asfortranarray([[1.0, 2.0]]), np.float64(3)),
        (np.arange(8.0).reshape(2, 4)[:1, 1:3], [3.0]),
    ],
)
def test_one_sample_may_come_in_many_forms(X: Any, y: Any) -> None:
    matrix, labels = rows(X, y, features=True, dim=2)
    assert matrix.tolist() == [[1.0, 2.0]]
    assert labels.tolist() == [3.0]
    assert matrix.flags.c_contiguous
    assert matrix.flags.aligned


def test_unaligned_memory_is_copied() -> None:
    raw = np.zeros(17, np.uint8)
    X = raw[1:].view(np.float64).reshape(1, 2)
    assert not X.flags.aligned
    assert rows(X, [1.0], features=True, dim=2)[0].flags.aligned


def test_arrays_of_any_layout_are_learnt_and_predicted_alike() -> None:
    X, y = np.arange(12.0).reshape(3, 4) / 7.0, np.array([1.0, -1.0, 0.5])
    unaligned = np.zeros(8 * X.size + 1, np.uint8)[1:].view(np.float64).reshape(X.shape)
    unaligned[:] = X
    forms = [
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        X.astype(">f8"),
        unaligned,
        np.frombuffer(X.tobytes()).reshape(X.shape),
    ]
    plain = llr.Learner("linear", dim=4, regret="exact")
    assert plain.learn(X, y)
    for form in forms:
        learner = llr.Learner("linear", dim=4, regret="exact")
        assert learner.learn(form, y)
        assert learner.pack() == plain.pack()
        assert learner.predict(form).tolist() == plain.predict(X).tolist()
        assert learner.predict(form[1]) == plain.predict(X)[1]


@pytest.mark.parametrize(
    ("X", "y", "error"),
    [
        ([["a", "b"]], [1.0], llr.DtypeError),
        ([[True, False]], [1.0], llr.DtypeError),
        ([[1.0, 2.0]], ["1.5"], llr.DtypeError),
        ([[1.0, 2.0]], [True], llr.DtypeError),
        ([[1j, 2j]], [1.0], llr.DtypeError),
        ([[1.0, None]], [1.0], llr.DtypeError),
        ([[1.0, 2.0], [1.0]], [1.0, 2.0], llr.ShapeError),
        ([[1.0, 2.0]], [1.0, 2.0], llr.ShapeError),
        ([[1.0, 2.0], [3.0, 4.0]], 1.0, llr.ShapeError),
        ([[1.0, 2.0]], [[1.0]], llr.ShapeError),
        ([[[1.0, 2.0]]], [1.0], llr.ShapeError),
        ([1.0, 2.0], [1.0], llr.ShapeError),
        (1.0, 1.0, llr.ShapeError),
        ([[1.0, 2.0]], None, llr.ShapeError),
        ([[1.0, 2.0, 3.0]], [1.0], llr.DimensionError),
        (np.empty((1, 0)), [1.0], llr.DimensionError),
    ],
)
def test_what_is_not_samples_is_refused_with_a_typed_error(
    X: Any, y: Any, error: type[llr.SampleError]
) -> None:
    learner = llr.Learner("linear", dim=2)
    with pytest.raises(error):
        learner.learn(X, y)
    assert learner.t == 0


def test_ten_to_the_400_is_not_a_finite_number() -> None:
    with pytest.raises(llr.SampleError):
        llr.Learner("linear", dim=1).learn([[10**400]], [1.0])


@pytest.mark.parametrize(
    ("X", "y", "index"),
    [
        ([[1.0, 2.0], [1.0]], [1.0, 2.0], 1),
        ([[1.0, 2.0], ["a", "b"]], [1.0, 2.0], 1),
        ([[1.0, 2.0], [3.0, 4.0]], [1.0, None], 1),
    ],
)
def test_the_error_names_the_sample(X: Any, y: Any, index: int) -> None:
    with pytest.raises(llr.SampleError, match=f"sample {index}") as caught:
        llr.Learner("linear", dim=2).learn(X, y)
    assert caught.value.index == index
