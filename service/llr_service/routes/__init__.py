"""The routes, one file a family. To add one, write its file and give it a line in `ROUTERS`."""

from fastapi import APIRouter

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
    sessions,
    shadows,
    snapshot,
)

ROUTERS: dict[str, APIRouter] = {
    "sessions": sessions.router,
    "predict": predict.router,
    "labels": labels.router,
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
