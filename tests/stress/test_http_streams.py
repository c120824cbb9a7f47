"""The streams of row 24 have teeth: they find what uvicorn alone gets wrong."""

import asyncio
import random

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from stress.http_streams import stream, without_socket


def test_the_faults_of_the_protocol_without_bounds_are_found() -> None:
    lot = random.Random(1)

    async def found() -> list[str]:
        return [await without_socket(lot, stream(lot), HttpToolsProtocol) for _ in range(200)]

    faults = [fault for fault in asyncio.run(found()) if fault]
    assert any("h11 sees" in fault for fault in faults)
    assert any("answers" in fault for fault in faults)
