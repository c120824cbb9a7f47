import hashlib

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from llr_service.http.auth import (
    ApiKey,
    Role,
    authenticate,
    by_digest,
    hash_key,
    parse_keys,
    require,
)
from llr_service.problems import Problem

SECRETS = {"reader": "r-key", "writer": "w-key", "boss": "a-key"}
KEYS = parse_keys(
    ",".join(
        f"{name}:{role}:{hash_key(SECRETS[name])}"
        for name, role in (("reader", "read"), ("writer", "write"), ("boss", "admin"))
    )
)
KNOWN = by_digest(KEYS)


def kind_of(*headers: tuple[bytes, bytes]) -> str:
    with pytest.raises(Problem) as caught:
        authenticate(headers, KNOWN)
    assert caught.value.kind.status == 401
    assert caught.value.headers == {"WWW-Authenticate": "Bearer"}
    assert caught.value.detail
    return caught.value.kind.name


def test_a_key_is_known_by_its_sha256() -> None:
    assert hash_key("") == hashlib.sha256(b"").hexdigest()
    assert bytes.fromhex(hash_key("r-key")) == KEYS[0].digest


def test_keys_are_parsed_with_spaces_capitals_and_a_trailing_comma() -> None:
    text = f" a:read:{hash_key('1').upper()} ,\n b.c-d_2:admin:{hash_key('2')},"
    assert [(key.name, key.role) for key in parse_keys(text)] == [
        ("a", Role.READ),
        ("b.c-d_2", Role.ADMIN),
    ]
    assert parse_keys("") == parse_keys(" , ") == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("llr_secret", "entry 1 is not name:role:sha256hex"),
        (f"a:read:b-:{hash_key('1')}:x", "entry 1 is not"),
        (f"a:read:{hash_key('1')}:x", "entry 1: a prefix begins a session's name"),
        (f"a:read:acme:{hash_key('1')}", "entry 1: a prefix"),
        (f"a:read:-acme-:{hash_key('1')}", "entry 1: a prefix"),
        (f"a:read:-:{hash_key('1')}", "entry 1: a prefix"),
        (f"a:read::{hash_key('1')}", "entry 1: a prefix"),
        (f"a:read:{'a' * 64}-:{hash_key('1')}", "entry 1: a prefix"),
        (f"a:read:a/b-:{hash_key('1')}", "entry 1: a prefix"),
        (f"a:read:{hash_key('1')},b:root:{hash_key('2')}", "entry 2: the role is one of read"),
        (f"a:READ:{hash_key('1')}", "entry 1: the role"),
        (f":read:{hash_key('1')}", "entry 1: a name"),
        (f"{'a' * 65}:read:{hash_key('1')}", "entry 1: a name"),
        (f"a b:read:{hash_key('1')}", "entry 1: a name"),
        ("a:read:llr_secret", "entry 1: give the key's SHA-256"),
        (f"a:read:{hash_key('1')}00", "entry 1: give the key's SHA-256"),
        (f"a:read:{hash_key('1')},a:read:{hash_key('2')}", "same name"),
        (f"a:read:{hash_key('1')},b:admin:{hash_key('1')}", "twice"),
    ],
)
def test_a_wrong_entry_is_named_by_its_place_and_not_repeated(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        parse_keys(text)
    assert "secret" not in str(caught.value)
    assert hash_key("1") not in str(caught.value)


def test_a_tenants_key_has_its_prefix_and_reaches_what_begins_so() -> None:
    text = f"a:read:acme-:{hash_key('1')},b:admin:ac.me_:{hash_key('2')}"
    acme, other = parse_keys(text)
    assert (acme.prefix, other.prefix, KEYS[0].prefix) == ("acme-", "ac.me_", "")
    for name in ("acme-1", "acme--", "acme-.x"):
        assert acme.reaches(name)
        assert not other.reaches(name)
        assert KEYS[0].reaches(name)
    for name in ("acme-", "acme", "acme2-1", "Acme-1", "xacme-1", " acme-1", "ac.me_1", ""):
        assert not acme.reaches(name), name


def test_the_digest_of_a_key_is_not_shown() -> None:
    assert repr(KEYS[0]) == "ApiKey(name='reader', role=<Role.READ: 1>, prefix='')"


@pytest.mark.parametrize(("name", "role"), [("reader", 1), ("writer", 2), ("boss", 3)])
@pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "BEARER  {} "])
def test_a_known_key_has_its_role(name: str, role: int, form: str) -> None:
    other = (b"user-agent", b"x")
    bearer = (b"authorization", form.format(SECRETS[name]).encode())
    plain = (b"x-api-key", SECRETS[name].encode())
    assert authenticate([other, bearer], KNOWN) == KEYS[role - 1]
    assert authenticate([plain, other], KNOWN) == KEYS[role - 1]
    assert authenticate([bearer, plain], KNOWN) == KEYS[role - 1]
    assert authenticate([(b"authorization", b"Basic eDp5"), plain], KNOWN) == KEYS[role - 1]


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"authorization", b"")],
        [(b"authorization", b"Bearer")],
        [(b"authorization", b"Bearer ")],
        [(b"authorization", b"r-key")],
        [(b"authorization", b"Basic r-key")],
        [(b"x-api-key", b"")],
        [(b"x-api-key", b"R-KEY")],
        [(b"x-api-key", b"r-key\x00")],
        [(b"x-api-key", KEYS[0].digest)],
        [(b"x-api-key", hash_key("r-key").encode())],
        [(b"x-api-key", b"r-key"), (b"x-api-key", b"a-key")],
        [(b"authorization", b"Bearer r-key"), (b"x-api-key", b"a-key")],
        [(b"cookie", b"x-api-key=r-key")],
    ],
)
def test_anything_else_is_refused(headers: list[tuple[bytes, bytes]]) -> None:
    assert kind_of(*headers) == "unauthenticated"


@settings(deadline=None)
@seed(1)
@given(value=st.binary(max_size=200))
def test_no_other_bytes_are_a_key(value: bytes) -> None:
    if value.strip().decode("latin-1") not in SECRETS.values():
        assert kind_of((b"x-api-key", value)) == "unauthenticated"
        assert kind_of((b"authorization", b"Bearer " + value)) == "unauthenticated"
        assert kind_of((b"authorization", value)) == "unauthenticated"


def test_without_keys_everybody_is_admin() -> None:
    assert authenticate([], {}).role is Role.ADMIN
    assert authenticate([(b"x-api-key", b"anything")], {}).prefix == ""


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("needed", Role)
def test_a_role_includes_the_lesser_ones(role: Role, needed: Role) -> None:
    if role >= needed:
        require(role, needed)
        return
    with pytest.raises(Problem, match=f"the role {needed}; yours has {role}") as caught:
        require(role, needed)
    assert caught.value.kind.status == 403


def test_the_roles_are_in_order() -> None:
    assert [str(role) for role in sorted(Role)] == ["read", "write", "admin"]
    assert ApiKey("a", Role.READ, b"").role < Role.WRITE
