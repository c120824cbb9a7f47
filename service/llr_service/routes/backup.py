"""`POST /v1/backup`: the whole store as it is at one moment, while the service goes on."""

import os
from collections.abc import Iterator
from typing import BinaryIO

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from llr_service.app_state import AppState, AppStateDep
from llr_service.http.auth import Role, requires
from llr_service.http.hosts import check_origin
from llr_service.problems import Problem
from llr_service.sessions.waiting import RETRY
from llr_service.stores.store import StoreError, StoreFull

router = APIRouter(prefix="/v1", tags=["operations"])
SQLITE = "application/vnd.sqlite3"
PART = 2**20


@router.post(
    "/backup",
    responses={200: {"content": {SQLITE: {}}, "description": "The store, an SQLite file."}},
    response_class=Response,
    operation_id="takeBackup",
)
@requires(Role.ADMIN)
async def backup(request: Request, here: AppStateDep) -> Response:
    """A copy of the store, an SQLite file; commits wait while it is made, not while it is sent.

    One at a time: a copy takes the disk's room until it is sent.
    """
    check_origin(dict(request.scope["headers"]), here.settings)
    if here.backing_up:
        detail = "another backup is being made or sent: try again when it is done"
        raise Problem("too-many", detail, headers={"Retry-After": "10"})
    here.backing_up = True
    try:
        return _Copy(await _copy(here), here)
    except BaseException:
        here.backing_up = False
        raise


async def _copy(here: AppState) -> BinaryIO:
    try:
        copy = await here.sessions.storage.backup()
    except StoreFull as full:
        raise Problem("disk-full", "there is no room for a copy beside the store") from full
    except StoreError as failure:
        raise Problem("unavailable", f"no copy was made: {failure}", headers=RETRY) from failure
    if copy is None:
        detail = "this store is copied by its own means: pg_dump for Postgres"
        raise Problem("not-found", detail)
    return copy


class _Copy(StreamingResponse):
    """A copy on its way. It is closed when it was sent or the client has left."""

    def __init__(self, copy: BinaryIO, here: AppState) -> None:
        length = {"Content-Length": f"{os.fstat(copy.fileno()).st_size}"}
        super().__init__(_parts(copy), media_type=SQLITE, headers=length)
        self._copy, self._here = copy, here

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._here.backing_up = False
            self._copy.close()


def _parts(copy: BinaryIO) -> Iterator[bytes]:
    while part := copy.read(PART):
        yield part
