"""The routes, one file a family. To add one, write its file and give it a line in `ROUTERS`.

`DIRECT` has the hot ones, which the middleware calls without FastAPI's router.
"""

from fastapi import APIRouter

from llr_service.http.routing import DirectRoute
from llr_service.routes import (
    copies,
    dashboard,
    events,
    guide,
    history,
    operations,
    predict,
    samples,
    sessions,
)

ROUTERS: dict[str, APIRouter] = {
    "sessions": sessions.router,
    "history": history.router,
    "events": events.router,
    "copies": copies.router,
    "catalog": operations.catalog_router,
    "operations": operations.router,
    "dashboard": dashboard.router,
    "guide": guide.router,
}

DIRECT: tuple[DirectRoute, ...] = (
    samples.learn,
    predict.predict,
    samples.label,
    sessions.state,
)
