"""Vowpal Wabbit by its Python binding: a line of text a sample, or examples made beforehand."""

from collections.abc import Callable
from typing import Any

from vowpalwabbit import Workspace

QUIET = "--quiet --loss_function squared -b 18"


def dense(X: Any, y: Any) -> Callable[[], Callable[[], None]]:
    """Its defaults, a line of text a sample; the lines are made beforehand."""
    return learning(lines_of(X, y))


def ready(X: Any, y: Any) -> Callable[[], Callable[[], None]]:
    """The same with examples that are parsed beforehand: what its core takes."""
    lines = lines_of(X, y)

    def prepare() -> Callable[[], None]:
        workspace = Workspace(QUIET)
        examples = [workspace.example(text) for text in lines]

        def run() -> None:
            for example in examples:
                workspace.learn(example)

        return run

    return prepare


def sparse(starts: Any, columns: Any, values: Any, y: Any) -> Callable[[], Callable[[], None]]:
    """Its defaults on features by number, most of which are absent."""
    numbers, at = values.tolist(), starts.tolist()
    lines = [
        line(columns[a:b].tolist(), numbers[a:b], label)
        for a, b, label in zip(at[:-1], at[1:], y.tolist(), strict=True)
    ]
    return learning(lines)


def lines_of(X: Any, y: Any) -> list[str]:
    """A line for each row."""
    pairs = zip(X.tolist(), y.tolist(), strict=True)
    return [line(range(X.shape[1]), row, label) for row, label in pairs]


def line(columns: Any, row: list[float], label: float) -> str:
    """A sample as its text format has it."""
    pairs = zip(columns, row, strict=True)
    return f"{label!r} | " + " ".join(f"f{column}:{value!r}" for column, value in pairs)


def learning(lines: list[str]) -> Callable[[], Callable[[], None]]:
    """Each turn a new workspace."""

    def prepare() -> Callable[[], None]:
        workspace = Workspace(QUIET)

        def run() -> None:
            for text in lines:
                workspace.learn(text)

        return run

    return prepare
