"""`GET /`: the dashboard, a page for people. It needs no key; the data it asks for does."""

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from llr_service.dashboard import ASSETS, PAGE, Asset
from llr_service.http.auth import PUBLIC, requires

router = APIRouter(tags=["dashboard"])
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""A browser asks every time whether a file is still the same: an upgrade is never half seen."""


@requires(PUBLIC)
async def page(request: Request) -> Response:
    """The dashboard."""
    return _answer(request, PAGE)


@requires(PUBLIC)
async def asset(request: Request) -> Response:
    """A file of the dashboard."""
    return _answer(request, request.path_params["asset"])


def _answer(request: Request, name: str) -> Response:
    found = ASSETS.get(name)
    if found is None:
        raise HTTPException(404)
    return conditional(request, found)


def conditional(request: Request, found: Asset) -> Response:
    """A file with the policy's headers, or 304 if the browser already has it."""
    headers = HEADERS | {"ETag": found.etag}
    known = request.headers.get("if-none-match", "")
    if found.etag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(found.body, headers=headers | {"Content-Type": found.kind})


router.add_route("/", page, methods=["GET"], include_in_schema=False)
router.add_route("/dashboard/{asset}", asset, methods=["GET"], include_in_schema=False)
