"""`POST /v1/backup`: the whole store as it is at one moment, while the service goes on."""

import os
from collections.abc import Iterator
from typing import BinaryIO

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from llr_service.app_state import AppStateDep
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
async def backup(here: AppStateDep) -> Response:
    """A copy of the store, an SQLite file; commits wait while it is made, not while it is sent."""
    try:
        copy = await here.sessions.storage.backup()
    except StoreFull as full:
        raise Problem("disk-full", "there is no room for a copy beside the store") from full
    except StoreError as failure:
        raise Problem("unavailable", f"no copy was made: {failure}", headers=RETRY) from failure
    if copy is None:
        detail = "this store is copied by its own means: pg_dump for Postgres"
        raise Problem("not-found", detail)
    size = os.fstat(copy.fileno()).st_size
    return StreamingResponse(_parts(copy), media_type=SQLITE, headers={"Content-Length": f"{size}"})


def _parts(copy: BinaryIO) -> Iterator[bytes]:
    with copy:
        while part := copy.read(PART):
            yield part
