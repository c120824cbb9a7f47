"""The OpenAPI document and docs/api.md say what the app does: all of it, and nothing else."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from llr_service.app import App
from llr_service.http.routing import RouteIndex
from llr_service.problems import KINDS, MEDIA_TYPE, TYPE_PREFIX
from llr_service.routes.stream import (
    AHEAD,
    CODES,
    GOING_AWAY,
    MAX_CONSECUTIVE_ERRORS,
    WRONG,
    WebSocketEndpoint,
)
from llr_service.settings import Settings
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR
from starlette.testclient import TestClient
from support.root import ROOT
from support.serving import serving

from scripts.system_programs import need

API = (ROOT / "docs" / "api.md").read_text()
APP = App(Settings(store="memory:"))
INDEX = RouteIndex(APP.inner.routes)
DOCUMENT: dict[str, Any] = APP.inner.openapi()
OPERATIONS: dict[str, dict[str, Any]] = {
    f"{method.upper()} {path}": operation
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
}
BESIDE = {
    "GET /",
    "GET /dashboard/{asset}",
    "GET /docs",
    "GET /guide",
    "GET /guide/{path:path}",
    "GET /llms.txt",
    "GET /openapi.json",
}
"""Routes for people, which are no part of the document."""


def routes(app: App) -> set[str]:
    """Every route of an app as `METHOD /path`, those that go past the router included."""
    found = {f"WS {WebSocketEndpoint.path}"}
    for route in iter_route_contexts(app.inner.routes):
        found |= {f"{method} {route.path}" for method in set(route.methods or ["WS"]) - {"HEAD"}}
    return {route for route in found if "/swagger/" not in route}


def test_numbers_have_64_bits_for_generated_clients() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["Answer"]["properties"]["t"]["format"] == "int64"
    assert schemas["Answer"]["properties"]["eta"]["format"] == "double"
    assert schemas["Row"]["anyOf"][0]["items"]["format"] == "double"


def test_the_document_is_valid_openapi_3_1() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    assert [error.message for error in OPENAPI_31_VALIDATOR.iter_errors(DOCUMENT)] == []


def test_every_reference_leads_somewhere() -> None:
    names = set(re.findall(r"#/components/schemas/(\w+)", str(DOCUMENT)))
    assert names == set(DOCUMENT["components"]["schemas"])


def test_every_route_is_documented_and_every_documented_path_exists() -> None:
    assert set(OPERATIONS) | BESIDE == {route for route in routes(APP) if route[:3] != "WS "}


def test_every_operation_has_an_id_of_its_own_a_tag_and_a_summary() -> None:
    ids = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(ids)) == len(ids)
    for route, operation in OPERATIONS.items():
        assert operation["tags"], route
        assert operation["summary"], route
        assert operation["description"], route


def test_summaries_are_words_and_not_names_of_functions() -> None:
    for route, operation in OPERATIONS.items():
        assert operation["summary"].count(" ") >= 2, route
        assert not operation["summary"].endswith((".", ":")), route


def test_every_json_answer_has_a_schema_with_members() -> None:
    for route, operation in OPERATIONS.items():
        done = [one for status, one in operation["responses"].items() if status[0] == "2"]
        for answer in done:
            schema = answer.get("content", {}).get("application/json", {}).get("schema")
            assert schema is None or "$ref" in schema, route


def test_the_examples_of_a_config_and_of_samples_fit_together(client: TestClient) -> None:
    config = DOCUMENT["components"]["schemas"]["SessionConfig"]["examples"][0]
    content = OPERATIONS["POST /v1/sessions/{name}/samples"]["requestBody"]["content"]
    example = content["application/json"]["examples"]["one sample"]["value"]
    assert client.put("/v1/sessions/a", json=config).status_code == 201
    assert client.post("/v1/sessions/a/samples", json=example).status_code == 200


def bodies() -> list[Any]:
    found = []
    for route, operation in OPERATIONS.items():
        for kind, content in operation.get("requestBody", {"content": {}})["content"].items():
            found.append(pytest.param(content, id=f"{route} {kind}"))
    return found


@pytest.mark.parametrize("content", bodies())
def test_every_body_has_an_example(content: dict[str, Any]) -> None:
    schema = content["schema"]
    if "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    assert content.get("examples") or content.get("example") or schema.get("examples")


def test_the_examples_of_samples_are_learnt_from(client: TestClient) -> None:
    content = OPERATIONS["POST /v1/sessions/{name}/samples"]["requestBody"]["content"]
    assert set(content) == {
        "application/json",
        "application/x-ndjson",
        "application/x-npy",
        "application/vnd.apache.arrow.stream",
    }
    client.put("/v1/sessions/linear", json={"model": "linear"})
    client.put("/v1/sessions/gaussian", json={"model": "gaussian"})
    client.put("/v1/sessions/named", json={"model": "linear", "named": True})
    others = {"without features": "gaussian", "named features": "named"}
    for name, example in content["application/json"]["examples"].items():
        session = others.get(name, "linear")
        sent = client.post(f"/v1/sessions/{session}/samples", json=example["value"])
        assert sent.status_code == 200, name
    for example in content["application/x-ndjson"]["examples"].values():
        headers = {"content-type": "application/x-ndjson"}
        sent = client.post("/v1/sessions/linear/samples", content=example["value"], headers=headers)
        assert sent.json()["accepted"] == 2


def test_the_examples_of_labels_are_learnt_from_once_those_of_predictions_were_kept(
    client: TestClient,
) -> None:
    client.put("/v1/sessions/linear", json={"model": "linear"})
    client.put("/v1/sessions/gaussian", json={"model": "gaussian"})
    for route in ("predict", "labels"):
        content = OPERATIONS[f"POST /v1/sessions/{{name}}/{route}"]["requestBody"]["content"]
        for name, example in content["application/json"]["examples"].items():
            session = "gaussian" if name == "without features" else "linear"
            sent = client.post(f"/v1/sessions/{session}/{route}", json=example["value"])
            assert sent.status_code == 200, name
    assert client.get("/v1/sessions/linear").json()["t"] == 3


def test_every_problem_is_documented_for_every_operation() -> None:
    for route, operation in OPERATIONS.items():
        for kind in KINDS.values():
            answer = operation["responses"][str(kind.status)]
            assert kind.title in answer["description"], route
            assert answer["content"][MEDIA_TYPE]["schema"]["$ref"].endswith("/ProblemDocument")


def test_creating_again_is_documented() -> None:
    assert {"200", "201"} <= set(OPERATIONS["PUT /v1/sessions/{name}"]["responses"])


def test_every_answer_with_a_body_has_a_content_type() -> None:
    for route, operation in OPERATIONS.items():
        for status, answer in operation["responses"].items():
            assert status == "204" or answer.get("content"), f"{route} {status}"


def test_a_wrong_method_is_told_the_right_ones(client: TestClient) -> None:
    for path, item in DOCUMENT["paths"].items():
        answer = client.patch(path.replace("{name}", "a"))
        assert answer.status_code == 405, path
        assert set(answer.headers["allow"].split(", ")) >= {method.upper() for method in item}


@pytest.mark.filterwarnings("ignore:open_binary is deprecated")  # fastapi_swagger's own
def test_the_docs_work_without_the_internet(client: TestClient) -> None:
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert set(re.findall(r"https?://[^/\"']*", page.text)) <= {"http://testserver"}
    named = re.findall(r"(?:src|href)=\"([^\"]*)\"", page.text)
    kinds = {client.get(address).headers["content-type"].partition(";")[0] for address in named}
    assert kinds == {"application/javascript", "text/css", "image/png"}
    assert "'/openapi.json'" in page.text
    assert client.get("/openapi.json").json() == DOCUMENT


def test_without_docs_there_is_neither_page_nor_document() -> None:
    with TestClient(App(Settings(store="memory:", docs=False))) as client:
        for path in ("/docs", "/openapi.json", "/swagger/swagger-ui.css"):
            assert client.get(path).status_code == 404, path
        assert client.get("/livez").status_code == 200


def test_the_table_of_routes_in_the_docs_is_the_app() -> None:
    rows = re.findall(r"^\| `([A-Z]+ /[^`]*)` \|.*\| (\w+) \|$", API, re.MULTILINE)
    assert {route for route, _ in rows} == routes(APP)
    for route, role in rows:
        method, path = route.split()
        path = path.replace("{name}", "a").replace("{asset}", "main.js").replace("{shadow}", "b")
        stream = path.endswith("/stream")
        access = WebSocketEndpoint.access if stream else INDEX.find(method, path).access
        assert role == str(access.role or "none"), route


def test_the_table_of_errors_in_the_docs_is_the_code() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d{3}) \| \S", API, re.MULTILINE)
    assert rows == [(kind.name, str(kind.status)) for kind in KINDS.values()]
    assert TYPE_PREFIX in API


def test_every_member_of_a_config_is_in_the_docs() -> None:
    config = API.partition("## Config")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|", config, re.MULTILINE)
    assert rows == list(DOCUMENT["components"]["schemas"]["SessionConfig"]["properties"])


def test_the_codes_in_the_docs_are_those_a_stream_ends_with() -> None:
    codes = set(map(int, re.findall(r"^\| (\d{4}) \| ", API, re.MULTILINE)))
    assert codes == {*CODES.values(), GOING_AWAY, WRONG, 1007, 1009}
    assert f"{AHEAD} messages may be in flight" in API
    assert f"{MAX_CONSECUTIVE_ERRORS} messages in a row" in API


def test_the_python_in_the_docs_streams_to_a_service(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", API, re.DOTALL)
    with serving(f"sqlite:///{tmp_path / 'llr.db'}") as address:
        demo = f"http://{address}/v1/sessions/demo"
        assert httpx.put(demo, json={"model": "linear"}).status_code == 201
        exec(compile(code.replace("localhost:8080", address), "docs/api.md", "exec"), {})  # noqa: S102
        assert httpx.get(demo).json()["t"] == 100


def test_the_commands_in_the_docs_work_against_a_fresh_service(tmp_path: Path) -> None:
    need("curl")
    commands = "".join(re.findall(r"```bash\n(.*?)```", API, re.DOTALL))
    with serving(f"sqlite:///{tmp_path / 'llr.db'}") as address:
        script = commands.replace("localhost:8080", address).replace("curl ", "curl -sSf ")
        script = script.replace("python -c", f"{sys.executable} -c")
        done = subprocess.run(  # noqa: S603
            ["bash", "-euo", "pipefail", "-c", script],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"accepted":0,"duplicate":true') == 1
    assert done.stdout.count('"accepted":100,') == 1
