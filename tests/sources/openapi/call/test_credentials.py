from typing import Any

import pytest

from pegboard.sources.openapi.call.credentials import ApiCredentials, CredentialGrant
from pegboard.sources.openapi.config import OpenApiConfig

SCHEMES: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "Bearer"},
    "basic": {"type": "http", "scheme": "basic"},
    "key": {"type": "apiKey", "in": "query", "name": "api_key"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "auth_header": {"type": "apiKey", "in": "header", "name": "Authorization"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "oauth": {"type": "oauth2"},
    "oidc": {"type": "openIdConnect"},
    "tls": {"type": "mutualTLS"},
    "digest": {"type": "http", "scheme": "digest"},
    "host": {"type": "apiKey", "in": "header", "name": "Host"},
    "spaced": {"type": "apiKey", "in": "header", "name": "X Key"},
    "empty": {},
}
BEARER = {"kind": "bearer", "token": "token-1"}
KEY = {"kind": "api_key", "key": "key-1"}
BASIC = {"kind": "basic", "username": "ann", "password": "pass-1"}


def credentials(*auth: Any, headers: Any = None) -> ApiCredentials:
    config = OpenApiConfig.model_validate({"document": {}, "auth": auth, "headers": headers or {}})
    return ApiCredentials("shop", config, SCHEMES)


def grant(*auth: Any, needs: Any, headers: Any = None) -> CredentialGrant:
    return credentials(*auth, headers=headers).grant(needs)


def sent(found: CredentialGrant) -> list[tuple[str, str, str]]:
    assert found.problem == ""
    return [(part.location, part.name, part.value) for part in found.parts]


@pytest.mark.parametrize(
    ("auth", "scheme", "expected"),
    [
        (BEARER, "bearer", ("header", "Authorization", "Bearer token-1")),
        (BEARER, "oauth", ("header", "Authorization", "Bearer token-1")),
        (BEARER, "oidc", ("header", "Authorization", "Bearer token-1")),
        (BEARER, "auth_header", ("header", "Authorization", "Bearer token-1")),
        (BASIC, "basic", ("header", "Authorization", "Basic YW5uOnBhc3MtMQ==")),
        (KEY, "key", ("query", "api_key", "key-1")),
        (KEY, "header", ("header", "X-Key", "key-1")),
        (KEY, "cookie", ("cookie", "sid", "key-1")),
        ({**KEY, "name": "x-key"}, "header", ("header", "x-key", "key-1")),
        ({**KEY, "in": "cookie"}, "cookie", ("cookie", "sid", "key-1")),
        ({**BEARER, "scheme": "*"}, "digest", ("header", "Authorization", "Bearer token-1")),
        ({**BEARER, "scheme": "tls"}, "tls", ("header", "Authorization", "Bearer token-1")),
        (BEARER, "undescribed", ("header", "Authorization", "Bearer token-1")),
        (KEY, "undescribed", ("header", "X-API-Key", "key-1")),
    ],
)
def test_a_credential_goes_where_its_scheme_says(auth: Any, scheme: str, expected: Any) -> None:
    found = grant(auth, needs=[{scheme: []}])

    assert sent(found) == [expected]
    assert found.name == f"shop/{scheme}"


@pytest.mark.parametrize(
    ("auth", "scheme", "wanted"),
    [
        ((), "bearer", "'bearer', {kind: bearer, token: ...}"),
        ((), "oauth", "'oauth', {kind: bearer, token: ...}"),
        ((), "basic", "'basic', {kind: basic, username: ..., password: ...}"),
        ((), "key", "'key', {kind: api_key, in: query, name: api_key, key: ...}"),
        ((), "tls", "'tls' (mutualTLS), which this source cannot send"),
        ((), "digest", "'digest' (http digest), which this source cannot send"),
        ((), "empty", "'empty' (of no known kind), which this source cannot send"),
        ((), "undescribed", "'undescribed', which the document does not describe"),
        ((BEARER,), "basic", "'basic'"),
        ((BASIC,), "bearer", "'bearer'"),
        ((KEY,), "bearer", "'bearer'"),
        (({**KEY, "name": "other"},), "key", "'key'"),
        (({**KEY, "in": "header"},), "key", "'key'"),
        (({**BEARER, "scheme": "oauth"},), "bearer", "'bearer'"),
    ],
)
def test_what_is_missing_is_named_as_it_would_be_written(
    auth: Any, scheme: str, wanted: str
) -> None:
    found = grant(*auth, needs=[{scheme: []}])

    assert found.problem.startswith(f"It needs a credential that the board does not have: {wanted}")
    assert (found.parts, found.name) == ((), "")


def test_alternatives_are_tried_in_order() -> None:
    both = [{"tls": []}, {"bearer": [], "key": []}, {"basic": []}]

    assert [part[1] for part in sent(grant(KEY, BEARER, needs=both))] == [
        "Authorization",
        "api_key",
    ]
    assert grant(KEY, BEARER, needs=both).name == "shop/bearer+key"
    assert [part[1] for part in sent(grant(BASIC, needs=both))] == ["Authorization"]


def test_what_needs_nothing_gets_nothing() -> None:
    assert grant(BEARER, needs=[]) == CredentialGrant()
    assert grant(needs=[{}]) == CredentialGrant()
    assert grant(needs=[{"bearer": []}, {}]) == CredentialGrant()
    assert sent(grant(BEARER, needs=[{}, {"bearer": []}]))


def test_a_document_that_says_nothing_gets_everything() -> None:
    found = grant(BEARER, {**KEY, "in": "query", "name": "k"}, needs=None)

    assert sent(found) == [("header", "Authorization", "Bearer token-1"), ("query", "k", "key-1")]
    assert found.name == "shop/bearer+api_key"
    assert grant(needs=None) == CredentialGrant()


def test_sending_nothing_may_be_meant() -> None:
    assert grant({"kind": "none"}, needs=[{"bearer": []}]) == CredentialGrant()


def test_a_header_of_the_operator_is_a_credential_too() -> None:
    assert grant(needs=[{"header": []}], headers={"x-key": "abcd"}).problem == ""
    assert grant(needs=[{"bearer": []}], headers={"authorization": "abcd"}).problem == ""
    assert grant(needs=[{"key": []}], headers={"api_key": "abcd"}).problem


@pytest.mark.parametrize(
    ("scheme", "reason"),
    [
        ("host", "the header 'Host': the client sets this header itself"),
        ("spaced", "the header 'X Key': no header can have this name"),
    ],
)
def test_a_header_of_the_document_that_cannot_be_sent_is_a_problem_before_any_call(
    scheme: str, reason: str
) -> None:
    found = grant(KEY, needs=[{scheme: []}])

    assert reason in found.problem
    assert "Set 'scheme', 'in' and 'name'" in found.problem
    assert found.parts == ()

    meant = {**KEY, "scheme": scheme, "in": "header", "name": "X-Key"}
    assert sent(grant(meant, needs=[{scheme: []}])) == [("header", "X-Key", "key-1")]


def test_a_key_that_nobody_says_the_place_of_is_refused_where_it_would_be_a_header() -> None:
    assert "'Content-Length'" in grant({**KEY, "name": "Content-Length"}, needs=None).problem


def test_every_secret_is_known_so_that_it_can_be_masked() -> None:
    made = credentials(BEARER, KEY, BASIC, headers={"X-Other": "other-1", "X-Short": "abc"})

    assert set(made.secrets) == {"token-1", "key-1", "pass-1", "YW5uOnBhc3MtMQ==", "other-1"}
