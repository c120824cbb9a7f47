"""Every setting of the service: an option, else its LLR_ variable, else the default.

A setting is one field of `Settings`. Its option, its variable, its line in `--help` and its row in
docs/settings.md follow from that.
"""

import os
import re
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from llr_service import options
from llr_service.http.auth import ApiKey, check_distinct, parse_keys
from llr_service.http.keys import read_key_file
from llr_service.options import GIB, KIB, MIB, PREFIX, Described, Size, Words
from llr_service.signing import SECRET_FORM, secret_bytes

MIN_RATE = 1024
"""Default of the minimum upload rate: bytes of a body that extend its timeout by one second."""

_ORIGIN = re.compile(r"\*|https?://[^/\s,]+")
_HOST = re.compile(r"\*|[A-Za-z0-9._-]+|[0-9A-Fa-f]*(?::[0-9A-Fa-f]*){2,7}")


def _keys(value: object) -> object:
    return parse_keys(value) if isinstance(value, str) else value


Keys = Annotated[tuple[ApiKey, ...], NoDecode, BeforeValidator(_keys)]


def default_store() -> str:
    """An SQLite file in the user's data folder; nothing where the user has no folder."""
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    try:
        folder = data if data.is_absolute() else Path.home() / ".local" / "share"
    except RuntimeError:
        return ""
    return f"sqlite:///{folder / 'llr' / 'llr.db'}"


class Settings(BaseSettings):
    """The settings, checked when made and never changed after.

    >>> Settings(port=9000, max_body="64MiB").max_body
    67108864
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        validate_default=True,
    )

    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(
        default=8080, ge=0, le=65535, description="Port to listen on; 0 takes a free one."
    )
    store: str = Field(
        default_factory=default_store,
        description="Where sessions are kept: sqlite:///path, postgresql://user@host/database for"
        " many machines, or memory: for nowhere; several with commas between them share the"
        " sessions. The data folder is XDG_DATA_HOME, else ~/.local/share.",
    )
    api_keys: Keys = Field(
        default=(),
        description="Keys that are accepted, as name:role:sha256hex separated by commas. The role"
        " is read, write or admin. Without keys, all clients may do everything. A tenant's key is"
        " name:role:prefix:sha256hex: it sees only the sessions whose names begin with the prefix.",
    )
    api_keys_file: str = Field(
        default="",
        description="A file with further keys, one entry a line; # begins a comment. SIGHUP reads"
        " it again.",
    )
    rate_limit: float = Field(
        default=0.0,
        ge=0,
        le=1e6,
        allow_inf_nan=False,
        description="Requests a second that each key may make, messages of WebSockets included;"
        " beyond it requests get 429. 0 sets no limit.",
    )
    rate_burst: int = Field(
        default=100,
        ge=1,
        le=10**6,
        description="Requests that a key may make at once, after a pause, under `rate_limit`.",
    )
    max_tenant_sessions: int = Field(
        default=0,
        ge=0,
        le=10**6,
        description="Sessions that a key with a prefix may have; creating more gets 403. 0 sets no"
        " limit.",
    )
    webhook_url: str = Field(
        default="",
        pattern=r"^(https?://[^\s]+)?$",
        description="Where drift and divergence of sessions are reported, as http(s)://host/path.",
    )
    webhook_secret: str = Field(
        default="",
        description="The secret that signs what is reported: whsec_ and 24 to 64 bytes in base64.",
    )
    insecure: bool = Field(
        default=False,
        description="Listen beyond loopback without any keys: all clients may do everything.",
    )
    cors_origins: Words = Field(
        default=(),
        description="Web origins whose pages may call the service, such as https://example.org,"
        " separated by commas; * for all.",
    )
    allowed_hosts: Words = Field(
        default=(),
        description="Host names that requests may use besides loopback, without ports,"
        " separated by commas; * for all. With none, any; without keys, loopback only.",
    )
    docs: bool = Field(default=True, description="Serve /docs and /openapi.json.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Minimum level of the logs: debug, info, warning or error."
    )
    log_format: Literal["auto", "json", "text"] = Field(
        default="auto",
        description="Form of the logs: json, text, or auto: text on a terminal, json elsewhere.",
    )
    max_body: Size = Field(
        default=256 * MIB,
        ge=KIB,
        le=4 * GIB,
        description="Largest JSON, npy or Arrow body. NDJSON bodies are unlimited.",
    )
    max_bodies: Size = Field(
        default=GIB,
        ge=KIB,
        le=1024 * GIB,
        description="Bytes of all JSON, npy and Arrow bodies in progress; beyond it requests get"
        " 503.",
    )
    max_unread: Size = Field(
        default=64 * MIB,
        ge=KIB,
        le=1024 * GIB,
        description="Bytes of all answers that clients do not read; beyond it the slowest are"
        " disconnected.",
    )
    max_line: Size = Field(default=MIB, ge=KIB, le=GIB, description="Longest line of NDJSON.")
    max_message: Size = Field(
        default=4 * MIB, ge=KIB, le=GIB, description="Largest message of a WebSocket."
    )
    block_bytes: Size = Field(
        default=MIB, ge=KIB, le=GIB, description="Bytes of NDJSON that are committed together."
    )
    head_timeout: float = Field(
        default=10.0,
        gt=0,
        le=3600,
        allow_inf_nan=False,
        description="Timeout for the head of a request, in seconds; a late head gets 408.",
    )
    body_timeout: float = Field(
        default=30.0,
        gt=0,
        le=3600,
        allow_inf_nan=False,
        description="Seconds that the service waits for a body in all; `min_rate` extends them.",
    )
    min_rate: Size = Field(
        default=MIN_RATE,
        ge=1,
        le=GIB,
        description="Minimum upload rate: this many bytes extend a body's timeout by one second.",
    )
    memory_cap: Size = Field(
        default=512 * MIB,
        ge=MIB,
        le=1024 * GIB,
        description="Memory for loaded sessions. Beyond it idle sessions are evicted to the store.",
    )
    max_queue: int = Field(
        default=1024, ge=1, le=10**6, description="Requests that may wait for one session."
    )
    max_streams: int = Field(
        default=4096, ge=1, le=10**6, description="Event streams and WebSockets that may be open."
    )
    max_dim: int = Field(
        default=100_000,
        ge=1,
        le=10**8,
        description="Largest dim of a session; also the largest `max_features` of named features.",
    )
    max_producers: int = Field(
        default=10_000, ge=1, le=10**6, description="Producers one session remembers."
    )
    label_seconds: float = Field(
        default=86_400.0,
        gt=0,
        le=10 * 365 * 86_400,
        allow_inf_nan=False,
        description="Seconds for which x waits for its label, and a learnt id is remembered.",
    )
    max_kept: Size = Field(
        default=64 * MIB,
        ge=KIB,
        le=1024 * GIB,
        description="Bytes one session keeps for late labels: x, ids, and 400 for each of them.",
    )
    max_retained: Size = Field(
        default=256 * MIB,
        ge=KIB,
        le=1024 * GIB,
        description="Bytes of samples that a session with `retain` keeps; beyond it the session"
        " learns without retaining.",
    )
    drain_seconds: float = Field(
        default=1.5,
        ge=0,
        le=600,
        allow_inf_nan=False,
        description="Grace period for running requests at shutdown, in seconds.",
    )

    @field_validator("store")
    @classmethod
    def _store_is_named(cls, store: str) -> str:
        if not store:
            raise ValueError("there is no data folder to keep sessions in; say where")
        if not re.match(r"[a-z]+:", store):
            raise ValueError("write it as sqlite:///path, postgresql://user@host/db or memory:")
        return store

    @field_validator("cors_origins")
    @classmethod
    def _origins_are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(_ORIGIN.fullmatch, origins)):
            raise ValueError("an origin is http(s)://host or http(s)://host:port, without a path")
        return origins

    @field_validator("allowed_hosts")
    @classmethod
    def _hosts_are_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(_HOST.fullmatch, hosts)):
            raise ValueError("a host is a name or an address, without http:// and without a port")
        return hosts

    @model_validator(mode="after")
    def _webhooks_are_signed(self) -> Self:
        if self.webhook_url or self.webhook_secret:
            try:
                secret_bytes(self.webhook_secret)
            except ValueError:
                raise ValueError(f"{PREFIX}WEBHOOK_SECRET: {SECRET_FORM}") from None
        return self

    @model_validator(mode="after")
    def _keys_are_distinct(self) -> Self:
        if self.api_keys_file:
            try:
                check_distinct(self.api_keys + read_key_file(self.api_keys_file))
            except ValueError as error:
                raise ValueError(f"{PREFIX}API_KEYS_FILE: {error}") from None
        return self

    @model_validator(mode="after")
    def _is_not_open_to_all(self) -> Self:
        if self.has_keys or self.insecure or is_loopback(self.host):
            return self
        raise ValueError(
            f"refused to listen on {self.host!r}: without API keys anyone who reaches it could"
            f" read and delete every session. Set {PREFIX}API_KEYS or {PREFIX}API_KEYS_FILE, or"
            f" listen on 127.0.0.1, or set {PREFIX}INSECURE=true if that is what you want"
        )

    @property
    def has_keys(self) -> bool:
        """Whether requests need a key."""
        return bool(self.api_keys or self.api_keys_file)

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        yield from self.shown().items()

    def shown(self) -> dict[str, Any]:
        """The settings as they may be logged: keys by what they may, no passwords."""
        shown = {name: getattr(self, name) for name in type(self).model_fields}
        if {"@", "?"} & set(self.store):
            shown["store"] = self.store.partition(":")[0] + ":***"
        shown["api_keys"] = [
            ":".join(filter(None, (key.name, str(key.role), key.prefix))) for key in self.api_keys
        ]
        if self.webhook_url:
            secret = dict.fromkeys(("webhook_url", "webhook_secret"), "***")
            shown |= secret | {"webhook_url": urlsplit(self.webhook_url).hostname}
        return shown

    @classmethod
    def from_cli(
        cls, arguments: Sequence[str] | None = None, prog: str = "python -m llr_service"
    ) -> Self:
        """The settings of a command line; the process's own unless given.

        Raises:
            SystemExit: 0 after `--help`; 2 after a message that names the setting that is wrong.
        """
        parser = options.parser_of(cls, prog)
        given = vars(parser.parse_args(arguments))
        try:
            return cls(**given)
        except ValidationError as error:
            parser.exit(2, "".join(f"{prog}: {reason}\n" for reason in options.reasons(error)))


def described() -> list[Described]:
    """All settings as `--help` and docs/settings.md show them, in order."""
    return options.described(Settings)


def is_loopback(host: str) -> bool:
    """Whether a name or an address is this machine's own."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
