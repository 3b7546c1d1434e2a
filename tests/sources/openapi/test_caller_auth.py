"""What an API takes from its callers, and what its calls then send."""

from typing import Any

import pytest
from pydantic import ValidationError

from pegboard.core.credential import Secret
from pegboard.core.ports.accounts.credentials import CallerAuth, OAuthSettings
from pegboard.sources.openapi.call.credentials import ApiCredentials
from pegboard.sources.openapi.caller_auth import read_caller_auth
from pegboard.sources.openapi.config import OpenApiConfig

SCHEMES: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "basic": {"type": "http", "scheme": "basic"},
    "key": {"type": "apiKey", "in": "query", "name": "api_key"},
}
OAUTH = {"token_url": "https://auth.example/token"}
CONSENT = OAUTH | {"authorization_url": "https://auth.example/auth", "client_id": "board"}


def config(auth: Any) -> OpenApiConfig:
    return OpenApiConfig.model_validate({"document": {}, "auth": auth})


def caller(**fields: Any) -> dict[str, Any]:
    return {"kind": "caller", **fields}


@pytest.mark.parametrize(
    ("auth", "expected"),
    [
        ((), None),
        ({"kind": "bearer", "token": "t"}, None),
        (caller(), CallerAuth(kinds=("bearer",))),
        (caller(sends="basic"), CallerAuth(kinds=("basic",))),
        (caller(sends="api_key", name="X-Key"), CallerAuth(kinds=("api_key",))),
        (
            caller(oauth=OAUTH),
            CallerAuth(
                kinds=("oauth2_client", "bearer"),
                oauth=OAuthSettings(token_url="https://auth.example/token"),
            ),
        ),
        (
            caller(oauth=CONSENT | {"client_secret": "s", "scopes": ["a"]}),
            CallerAuth(
                kinds=("oauth2", "bearer"),
                oauth=OAuthSettings(
                    token_url="https://auth.example/token",
                    authorization_url="https://auth.example/auth",
                    client_id="board",
                    client_secret="s",
                    scopes=("a",),
                ),
            ),
        ),
    ],
    ids=["none", "board", "bearer", "basic", "key", "client", "consent"],
)
def test_a_configuration_says_what_callers_bring(auth: Any, expected: CallerAuth | None) -> None:
    assert read_caller_auth(config(auth)) == expected


@pytest.mark.parametrize(
    ("auth", "message"),
    [
        ([caller(), caller()], "one credential of its callers"),
        (caller(name="X"), "sends: api_key"),
        (caller(sends="basic", oauth=OAUTH), "sends: bearer"),
        (caller(oauth=OAUTH | {"client_id": "b"}), "goes with authorization_url"),
        (caller(oauth=CONSENT | {"client_id": ""}), "needs a client_id"),
        (caller(oauth={"token_url": "file:///etc/passwd"}), "write an address"),
        (caller(sends="api_key", name="Host", **{"in": "header"}), "client sets this header"),
    ],
    ids=["two", "name", "basic", "client id", "no client id", "address", "header"],
)
def test_a_contradictory_configuration_is_refused(auth: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        config(auth)


@pytest.mark.parametrize(
    ("auth", "scheme", "expected"),
    [
        (caller(), "bearer", [("header", "Authorization", "Bearer token")]),
        (caller(sends="basic"), "basic", [("header", "Authorization", "Basic Ym9iOnBhc3M=")]),
        (caller(sends="api_key"), "key", [("query", "api_key", "pass")]),
    ],
    ids=["bearer", "basic", "key"],
)
def test_a_call_sends_the_value_of_its_caller_as_the_document_asks(
    auth: Any, scheme: str, expected: list[tuple[str, str, str]]
) -> None:
    grant = ApiCredentials("shop", config(auth), SCHEMES).grant([{scheme: []}])
    token = "token" if scheme == "bearer" else ""

    parts = grant.fill(Secret(value="pass", username="bob", access_token=token))

    assert grant.takes_caller
    assert [part.value for part in grant.parts] == [""]
    assert [(part.location, part.name, part.value) for part in parts] == expected


def test_an_operation_that_needs_no_credential_takes_none_of_its_caller() -> None:
    grant = ApiCredentials("shop", config(caller()), SCHEMES).grant([])

    assert (grant.parts, grant.takes_caller, grant.problem) == ((), False, "")
