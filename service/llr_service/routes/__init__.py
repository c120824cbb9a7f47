"""The routes, one file a family. To add one, write its file and give it a line in `ROUTERS`.

`DIRECT` has the hot ones, which the middleware calls without FastAPI's router.
"""

from fastapi import APIRouter

from llr_service.http.routing import DirectRoute
from llr_service.routes import (
    backup,
    catalog,
    dashboard,
    events,
    fork,
    history,
    labels,
    operations,
    predict,
    samples,
    sessions,
    shadows,
    snapshot,
)

ROUTERS: dict[str, APIRouter] = {
    "sessions": sessions.router,
    "history": history.router,
    "events": events.router,
    "snapshot": snapshot.router,
    "fork": fork.router,
    "shadows": shadows.router,
    "catalog": catalog.router,
    "operations": operations.router,
    "backup": backup.router,
    "dashboard": dashboard.router,
}

DIRECT: tuple[DirectRoute, ...] = (
    samples.learn,
    predict.predict,
    labels.label,
    sessions.state,
)
