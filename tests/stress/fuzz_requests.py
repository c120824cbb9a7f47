"""Requests after our own OpenAPI document or against it, for row 11."""

import io
from typing import Any

import numpy as np
import schemathesis
from hypothesis import strategies as st
from llr_service.app import App
from llr_service.settings import Settings
from schemathesis import APIOperation, Case, GenerationMode, SerializationContext
from schemathesis.core.result import Ok

import llr

LIMITS = Settings(
    store="memory:",
    max_dim=1000,
    max_body=64 * 1024,
    block_bytes=1024,
    allowed_hosts=("testserver",),
)
OPERATIONS: dict[str, APIOperation[Any, Any, Any, Any]] = {
    found.ok().definition.raw["operationId"]: found.ok()
    for found in schemathesis.openapi.from_dict(App(LIMITS).inner.openapi()).get_all_operations()
    if isinstance(found, Ok)
}
OFTEN = ["createSession", "predict", "learn", "learn", "putSnapshot"]

NEEDED = {
    name: {model.parameter.name: 3} if model.parameter and model.parameter.default is None else {}
    for name, model in llr.MODELS.items()
}
CONFIGS: list[dict[str, Any]] = [
    {"model": model, "options": needed} for model, needed in NEEDED.items()
]
NAMES = [*NEEDED, "named"]
LEARNER = llr.Learner("linear", dim=2, regret="exact")
LEARNER.learn([[1.0, 2.0], [3.0, -1.0]], [1.0, 0.0])
SNAPSHOT: dict[str, Any] = {
    "format": 1,
    "name": "old",
    "t": 2,
    "config": {"model": "linear", "dim": 2},
    "producers": {"a": 2},
    "state": LEARNER.to_plain(),
}

numbers = st.sampled_from([0, 1, 2, -0.0, 5e-324, 1e308, -1e200, 10**40]) | st.floats(-9, 9)
labels = st.sampled_from([0, 1]) | numbers
rows = st.lists(st.floats(-9, 9), min_size=2, max_size=2) | st.lists(
    numbers, min_size=1, max_size=3
)
values = numbers | st.booleans() | st.sampled_from(["Rome", "", "1"]) | st.none()
objects = st.dictionaries(st.sampled_from(["a", "b", "a=Rome", "#1", ""]) | st.text(), values)
samples = st.fixed_dictionaries({"x": rows | objects, "y": labels})
named = '{"x":{"a":1,"b":"c"},"y":0}'
lines = st.sampled_from(['{"y":1}', '{"x":[1,2],"y":0}', '{"x":[1,2],"y":0}', named, "", "{"])
tables = st.lists(st.lists(st.floats(width=32), min_size=3, max_size=3), max_size=3)
queries: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {}, {"theta": "false"}, {"seq": 0}, {"producer": "a", "seq": 0}]
)


def npy(table: Any) -> bytes:
    """A table as numpy writes it."""
    buffer = io.BytesIO()
    np.save(buffer, table)
    return buffer.getvalue()


PLAUSIBLE: dict[str, list[tuple[str, st.SearchStrategy[Any]]]] = {
    "predict": [
        (
            "application/json",
            st.fixed_dictionaries({"x": rows | objects | st.lists(rows) | st.lists(objects)}),
        )
    ],
    "learn": [
        ("application/json", st.fixed_dictionaries({"y": labels}) | samples | st.lists(samples)),
        ("application/x-ndjson", st.lists(lines).map("\n".join)),
        ("application/x-npy", tables.map(npy)),
    ],
}


@schemathesis.serializer("application/x-npy", "application/x-ndjson")
def as_it_is(_: SerializationContext, value: Any) -> bytes:
    """A body that was drawn as what is sent."""
    return value if isinstance(value, bytes) else str(value).encode()


@st.composite
def requests(draw: st.DrawFn) -> Case[Any]:
    """Requests after the schema or against it, most of them to sessions and models there are."""
    operation = draw(st.sampled_from([*OPERATIONS, *OFTEN]))
    case: Case[Any] = draw(OPERATIONS[operation].as_strategy(draw(st.sampled_from(GenerationMode))))
    plausible = draw(st.integers(0, 3))
    if plausible and "name" in case.path_parameters:
        kept = [] if operation == "deleteSession" else NAMES
        case.path_parameters["name"] = draw(st.sampled_from(["new", *kept]))
    if plausible and operation in PLAUSIBLE:
        case.media_type, bodies = draw(st.sampled_from(PLAUSIBLE[operation]))
        case.body, case.query = draw(bodies), draw(queries)
    if plausible and operation == "createSession" and isinstance(case.body, dict):
        config = draw(st.sampled_from(CONFIGS))
        case.body = case.body | config | {"algorithm": "sg/ag"} if plausible > 1 else config
    if plausible and operation == "putSnapshot" and isinstance(case.body, dict):
        changed = draw(st.sets(st.sampled_from(list(SNAPSHOT)), max_size=2))
        case.body = SNAPSHOT | {key: case.body[key] for key in changed if key in case.body}
    return case
