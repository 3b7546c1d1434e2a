"""What may be said about a server, and what is kept secret of it."""

from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from pegboard.runtime.secret_values import secret_values
from pegboard.sources.mcp.config import BearerToken, McpConfig, OAuthAccess, reveal, words_of


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "give one of command, url, mcp_json and mcpServers; found none"),
        ({"command": "a", "url": "http://a/"}, "found command and url"),
        ({"url": "http://a/", "args": ["x"]}, "'args' belongs to 'command'"),
        ({"command": "a", "headers": {"X": "y"}}, "'headers' belongs to 'url'"),
        ({"url": "http://a", "headers": {"X": "{call.user}"}}, r"there is no \{call.user\}; known"),
        ({"command": "a", "auth": {"token": "x"}}, "'auth' belongs to 'url'"),
        (
            {"mcpServers": {"a": {"url": "http://a"}}, "auth": {"token": "x"}},
            "'auth' belongs to one server; write it in that one's entry",
        ),
        (
            {"mcp_json": "mcp.json", "env": {"A": "b"}},
            "'env' belongs to one server; write it in that one's entry",
        ),
        ({"command": "a", "transport": "sse"}, "'transport' belongs to 'url'"),
        ({"url": "http://a/", "auth": {"kind": "basic", "token": "x"}}, "bearer"),
        ({"command": "a", "env": ["X=y"]}, "dictionary"),
        ({"command": "a", "effects": {"*": "harmless"}}, "read"),
        ({"command": "a", "colour": "red"}, "Extra inputs"),
    ],
    ids=[
        *(
            "none",
            "two",
            "args",
            "headers",
            "unknown of a call",
            "auth",
            "auth of many",
            "env of many",
            "transport",
        ),
        *("kind", "env", "effect", "unknown"),
    ],
)
def test_a_wrong_config_says_what_to_write(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        McpConfig.model_validate(fields)


def test_values_whose_names_say_so_are_secret_and_others_are_not() -> None:
    config = McpConfig.model_validate(
        {"command": "a", "env": {"API_TOKEN": "hush-hush", "MODE": "fast", "RETRIES": 3}}
    )

    assert secret_values([config]) == ("hush-hush",)
    assert "hush" not in repr(config)
    assert reveal(config.env) == {"API_TOKEN": "hush-hush", "MODE": "fast", "RETRIES": "3"}
    assert config.credential == "API_TOKEN"


def test_of_a_header_the_token_alone_is_the_secret() -> None:
    headers = {"Authorization": "Bearer hush-hush", "X-Api-Key": "shh-shh", "X-Team": "blue"}
    config = McpConfig.model_validate({"url": "http://a/mcp", "headers": headers})

    assert set(secret_values([config])) == {"hush-hush", "shh-shh"}
    assert reveal(config.headers) == headers
    assert config.credential == "Authorization, X-Api-Key"


def test_a_bearer_token_is_a_credential_by_name() -> None:
    config = McpConfig.model_validate({"url": "http://a/mcp", "auth": {"token": "hush-hush"}})

    assert isinstance(config.auth, BearerToken)
    assert config.auth.token == SecretStr("hush-hush")
    assert config.credential == "auth.token"


def test_a_login_by_oauth_names_its_client() -> None:
    auth = {"kind": "oauth", "client_id": "ours", "client_secret": "hush-hush"}
    config = McpConfig.model_validate({"url": "http://a/mcp", "auth": auth})

    assert isinstance(config.auth, OAuthAccess)
    assert set(secret_values([config])) == {"hush-hush"}
    assert config.credential == "auth"


@pytest.mark.parametrize(
    ("auth", "reason"),
    [
        pytest.param({}, "'auth.token': field required", id="no token"),
        pytest.param({"kind": "magic"}, "'auth': input tag 'magic'", id="an unknown kind"),
        pytest.param({"kind": "oauth", "token": "x"}, "unknown 'auth.token'", id="a token"),
        pytest.param(
            {"kind": "oauth", "client_url": "http://a/b"},
            "'auth.client_url'",
            id="plain http",
        ),
    ],
)
def test_a_wrong_login_is_told_by_its_key(auth: dict[str, str], reason: str) -> None:
    with pytest.raises(ValidationError) as told:
        McpConfig.model_validate({"url": "http://a/mcp", "auth": auth})

    assert words_of(told.value).startswith(reason)


@pytest.mark.parametrize(
    ("fields", "is_sse"),
    [
        ({"url": "http://a/mcp"}, False),
        ({"url": "http://a/sse?x=1"}, True),
        ({"url": "http://a/sse/"}, True),
        ({"url": "http://a/sse", "transport": "http"}, False),
        ({"url": "http://a/mcp", "transport": "sse"}, True),
    ],
    ids=["http", "sse", "slash", "says-http", "says-sse"],
)
def test_the_transport_is_seen_from_the_url_unless_it_is_said(
    fields: dict[str, Any], is_sse: bool
) -> None:
    assert McpConfig.model_validate(fields).is_sse is is_sse
