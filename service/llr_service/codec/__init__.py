"""From the bytes of a request to arrays, and from arrays to the bytes of a store's log.

JSON and NDJSON are read twice if need be: `quick` takes what is plainly right, in bulk; what it
doubts goes to `exact`, which takes it or says what is wrong and where. A refusal is a `Problem`:
`malformed` (400) if the body is not what its content type says, `invalid` (422) if it is but holds
no samples, `too-large` (413) for a line beyond the limit.
"""

from llr_service.codec.json import decode_json, decode_rows
from llr_service.codec.labels import Labels, decode_label_lines, decode_labels
from llr_service.codec.lines import Block, LineSplitter
from llr_service.codec.log_entry import pack_samples, unpack_samples
from llr_service.codec.ndjson import decode_ndjson
from llr_service.codec.npy import decode_npy
from llr_service.codec.query import Query, decode_query
from llr_service.codec.samples import Samples

__all__ = [
    "Block",
    "Labels",
    "LineSplitter",
    "Query",
    "Samples",
    "decode_json",
    "decode_label_lines",
    "decode_labels",
    "decode_ndjson",
    "decode_npy",
    "decode_query",
    "decode_rows",
    "pack_samples",
    "unpack_samples",
]
