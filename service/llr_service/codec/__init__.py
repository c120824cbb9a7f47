"""From the bytes of a request to arrays, and from arrays to the bytes of a store's log.

JSON and NDJSON are decoded by the types of `reader`, which accept or refuse; `errors` says what is
wrong and where. A refusal is a `Problem`: `malformed` (400) if the body is not what its content
type says, `invalid` (422) if it is but holds no samples, `too-large` (413) for a line beyond the
limit.
"""

from llr_service.codec.arrow import decode_arrow
from llr_service.codec.json import Query, decode_json, decode_query
from llr_service.codec.labels import Labels, decode_label_lines, decode_labels
from llr_service.codec.log_entry import pack_samples, unpack_samples
from llr_service.codec.ndjson import Block, BlockDecoder, LineSplitter, decode_ndjson
from llr_service.codec.npy import decode_npy, parse_columns
from llr_service.codec.samples import Samples

__all__ = [
    "Block",
    "BlockDecoder",
    "Labels",
    "LineSplitter",
    "Query",
    "Samples",
    "decode_arrow",
    "decode_json",
    "decode_label_lines",
    "decode_labels",
    "decode_ndjson",
    "decode_npy",
    "decode_query",
    "pack_samples",
    "parse_columns",
    "unpack_samples",
]
