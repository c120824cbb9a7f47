"""Signatures of webhooks, as Standard Webhooks (standardwebhooks.com) has them.

The headers are `webhook-id`, `webhook-timestamp` and `webhook-signature`, which is an HMAC-SHA256
of both and of the body.
"""

import base64
import hashlib
import hmac

PREFIX = "whsec_"
SECRET_FORM = "write it as whsec_ and 24 to 64 bytes in base64"  # noqa: S105


def secret_bytes(secret: str) -> bytes:
    """The key of a secret written as `whsec_` and base64. Raises a ValueError if it is not."""
    if not secret.startswith(PREFIX):
        raise ValueError(SECRET_FORM)
    key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    if not 24 <= len(key) <= 64:
        raise ValueError(SECRET_FORM)
    return key


def signature(key: bytes, id_: str, timestamp: int, body: bytes) -> str:
    """The value of `webhook-signature`.

    >>> key = secret_bytes("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    >>> signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    signed = b"%b.%d.%b" % (id_.encode(), timestamp, body)
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
