"""Routes declare what they ask of a key, and the document comes from the declarations."""

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from llr_service.app import App
from llr_service.http.auth import Access, Role, requires
from llr_service.http.request import Request
from llr_service.http.responses import Response
from llr_service.http.routing import DirectRoute, RouteIndex, direct_route
from llr_service.routes import DIRECT
from llr_service.schemas import Prediction
from llr_service.settings import Settings

APP = App(Settings(store="memory:"))
INDEX = RouteIndex(APP.inner.routes)


def test_every_route_declares_its_access() -> None:
    for context in iter_route_contexts(APP.inner.routes):
        route: Any = context.original_route
        declared = getattr(route, "access", None) or getattr(route.endpoint, "access", None)
        assert isinstance(declared, Access), context.path


def test_an_app_with_a_route_that_declares_none_does_not_start() -> None:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    @app.get("/declared")
    @requires(Role.READ)
    async def declared() -> None: ...

    assert RouteIndex(app.routes).find("GET", "/declared").access == Access(Role.READ)

    @app.get("/forgotten")
    async def forgotten() -> None: ...

    with pytest.raises(TypeError, match="/forgotten declares no access"):
        RouteIndex(app.routes)


@pytest.mark.parametrize("route", DIRECT, ids=lambda route: route.operation_id)
def test_the_document_has_a_direct_route_as_it_is_declared(route: DirectRoute) -> None:
    operation = APP.inner.openapi()["paths"][route.path][route.method.lower()]
    assert operation["operationId"] == route.operation_id
    assert operation["tags"] == [route.tag]
    assert operation.get("requestBody", {}).get("content", {}) == route.content
    assert operation["parameters"][1:] == route.parameters
    answer = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    assert answer.endswith(f"/{route.response.__name__}")
    assert operation["x-role"] == str(route.access.role)


@pytest.mark.parametrize("route", DIRECT, ids=lambda route: route.operation_id)
def test_a_direct_route_is_found_by_its_exact_path_and_method_only(route: DirectRoute) -> None:
    path = route.path.replace("{name}", "a")
    assert INDEX.find(route.method, path)[:3] == (route, route.access, "a")
    for method, other in (
        ("PATCH", path),
        (route.method, path + "/"),
        (route.method, path + "\n/x"),
        (route.method, path.replace("/v1/", "/v2/")),
        (route.method, route.path.replace("{name}", "")),
    ):
        assert INDEX.find(method, other).route is None, (method, other)


def test_what_no_route_serves_is_for_readers_to_look_at_and_for_admins_to_change() -> None:
    assert INDEX.find("GET", "/nowhere").access == Access(Role.READ)
    assert INDEX.find("POST", "/nowhere").access == Access(Role.ADMIN)
    assert INDEX.find("PATCH", "/v1/sessions/a/samples")[:3] == (None, Access(Role.ADMIN), "a")


def test_a_declaration_becomes_a_route() -> None:
    @direct_route(
        "POST", "/v1/sessions/{name}/x", Role.WRITE, operation_id="x", tag="t", response=Prediction
    )
    async def endpoint(request: Request) -> Response | None:
        """Do something."""

    assert isinstance(endpoint, DirectRoute)
    assert RouteIndex([endpoint]).find("POST", "/v1/sessions/a/x").route is endpoint
