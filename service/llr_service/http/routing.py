"""Routes: direct ones that the middleware calls itself, and what every route asks of a key.

A direct route is declared where its endpoint is: method, path, access, the content types it reads
and its schema. The middleware finds it with one dictionary lookup and calls it without FastAPI's
router; the OpenAPI document is built from the same declaration. All other routes are FastAPI's, and
declare their access with `requires`.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn
from urllib.parse import parse_qsl

from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route, compile_path

from llr_service.http.auth import Access, Role
from llr_service.http.request import Request
from llr_service.http.responses import MAX_ERRORS, Response
from llr_service.http.wording import unknown
from llr_service.problems import Problem

Endpoint = Callable[[Request], Awaitable[Response | None]]
"""Answers a request; None if it has sent its response itself."""

SESSION_NAME = "{name}"
"""The part of a path that stands for a session's name."""


class DirectRoute(Route):
    """A declared endpoint.

    Attributes:
        call: the endpoint.
        access: what it asks of a key.
        content: OpenAPI's content of the request body, by content type; empty without a body.
        body_required: whether the body may be left out.
        parameters: OpenAPI's parameters beside the session's name.
        response: the model of the response.
        also: further content types of the response, with OpenAPI's description of them.
    """

    def __init__(
        self,
        call: Endpoint,
        method: str,
        path: str,
        access: Access,
        *,
        operation_id: str,
        tag: str,
        response: type[BaseModel],
        content: Mapping[str, Any] | None = None,
        body_required: bool = True,
        parameters: Iterable[Mapping[str, Any]] = (),
        also: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(path, _unmatched, name=operation_id, include_in_schema=False)
        self.methods = {method}
        self.call, self.method, self.access = call, method, access
        self.operation_id, self.tag, self.response = operation_id, tag, response
        self.content, self.body_required = dict(content or {}), body_required
        self.parameters, self.also = list(parameters), dict(also or {})


def direct_route(method: str, path: str, role: Role, **declared: Any) -> Callable[[Endpoint], Any]:
    """Declare an endpoint as a `DirectRoute`."""

    def declare(endpoint: Endpoint) -> DirectRoute:
        return DirectRoute(endpoint, method, path, Access(role), **declared)

    return declare


async def _unmatched(_: object) -> NoReturn:
    """What FastAPI's router calls for a path that is not exactly a direct route's."""
    raise HTTPException(404)


class Match(NamedTuple):
    """A request's route.

    Attributes:
        route: the direct route; None if FastAPI serves it, or nothing does.
        access: what it asks of a key.
        name: the session's name in the path.
        parameters: the names that its query may have; None if it may have any.
    """

    route: DirectRoute | None
    access: Access
    name: str | None
    parameters: frozenset[str] | None = None


def check_query(query: bytes, known: frozenset[str] | None) -> None:
    """Raise `invalid` if a query has a name that its route does not know."""
    if known is None or _has_only(known)(query):
        return
    names = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    errors = [
        {"parameter": name[:100], "detail": unknown(name[:100], known)}
        for name in names
        if name not in known
    ]
    if errors:
        detail = "; ".join(f"{one['parameter']}: {one['detail']}" for one in errors)
        raise Problem("invalid", detail[:500], errors[:MAX_ERRORS])


@lru_cache(256)
def _has_only(known: frozenset[str]) -> Callable[[bytes], object]:
    """Tells whether a query has plain names of these only; it may have them escaped if not."""
    names = b"|".join(re.escape(name.encode()) for name in sorted(known))
    return re.compile(b"(?:(?:%b)(?:=[^&]*)?(?:&|$))*" % names).fullmatch


def _parameters(route: Any, access: Access) -> frozenset[str] | None:
    """The names that the query of a route may have; pages and files take any."""
    if access.role is None:
        return None
    if isinstance(route, DirectRoute):
        return frozenset(one["name"] for one in route.parameters if one["in"] == "query")
    dependant = getattr(route, "dependant", None)
    return None if dependant is None else frozenset(_query_names(dependant))


def _query_names(dependant: Dependant) -> Iterator[str]:
    """The names of the query parameters of an endpoint and of what it depends on."""
    yield from (field.alias for field in dependant.query_params)
    for one in dependant.dependencies:
        yield from _query_names(one)


class RouteIndex:
    """Finds a request's route. Built from the routes of an app, each of which declares its access.

    Raises:
        TypeError: a route declares none.
    """

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._direct: dict[tuple[str, str, str], tuple[DirectRoute, frozenset[str] | None]] = {}
        self._others: list[
            tuple[frozenset[str], re.Pattern[str], Access, frozenset[str] | None]
        ] = []
        self._prefixes: list[str] = []
        for context in iter_route_contexts(list(routes)):
            route = context.original_route
            access = getattr(route, "access", None) or getattr(
                getattr(route, "endpoint", None), "access", None
            )
            if not isinstance(access, Access):
                raise TypeError(f"{context.path} declares no access: see http.auth.requires")
            if isinstance(route, DirectRoute):
                prefix, _, suffix = route.path.partition(SESSION_NAME)
                made = route, _parameters(route, access)
                self._direct[route.method, prefix, suffix] = made
                if prefix not in self._prefixes:
                    self._prefixes.append(prefix)
            else:
                pattern = compile_path(context.path or "")[0]
                methods, names = frozenset(context.methods or ()), _parameters(route, access)
                self._others.append((methods, pattern, access, names))

    def find(self, method: str, path: str) -> Match:
        """The route of a request; what no route serves is read with READ, changed with ADMIN."""
        for prefix in self._prefixes:
            if path.startswith(prefix):
                name, slash, rest = path[len(prefix) :].partition("/")
                made = self._direct.get((method, prefix, slash + rest))
                if made is not None and name:
                    route, names = made
                    return Match(route, route.access, name, names)
        for methods, pattern, access, names in self._others:
            if method in methods and (found := pattern.fullmatch(path)):
                return Match(None, access, found.groupdict().get("name"), names)
        return Match(None, _unknown(method), session_in(path))


def _unknown(method: str) -> Access:
    """The access required for a path without a route."""
    return Access(Role.READ if method in ("GET", "HEAD") else Role.ADMIN)


def session_in(path: str) -> str | None:
    """The session that an address without a route would be about."""
    found = re.fullmatch(r"/v1/sessions/([^/]*)(?:/.*)?", path, re.DOTALL)
    return found[1] if found else None
