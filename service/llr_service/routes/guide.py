"""`GET /guide/`: the documentation site, offline and without a key."""

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from llr_service import guide
from llr_service.http.auth import PUBLIC, requires
from llr_service.problems import Problem
from llr_service.routes.dashboard import conditional

router = APIRouter(tags=["guide"])
NOT_BUILT = "This installation has no guide; in a clone of the repository `make docs` builds it."


@requires(PUBLIC)
async def page(request: Request) -> Response:
    """A file of the site. Links in it are relative, so a folder's address ends with a slash."""
    path = request.path_params.get("path")
    if path is None:
        return RedirectResponse("/guide/")
    found = guide.find(path)
    if found is not None:
        return conditional(request, found)
    if path and guide.find(f"{path}/") is not None:
        return RedirectResponse(f"/guide/{path}/")
    raise _missing()


@requires(PUBLIC)
async def llms(request: Request) -> Response:
    """The pages of the site in one list, at the address where language models look for it."""
    found = guide.find("llms.txt")
    if found is None:
        raise _missing()
    return conditional(request, found)


def _missing() -> Exception:
    """404; without a site it says how to build it."""
    return HTTPException(404) if guide.find("") is not None else Problem("not-found", NOT_BUILT)


router.add_route("/llms.txt", llms, methods=["GET"], include_in_schema=False)
router.add_route("/guide", page, methods=["GET"], include_in_schema=False)
router.add_route("/guide/{path:path}", page, methods=["GET"], include_in_schema=False)
