from typing import Any

import pytest
from pydantic import ValidationError

from pegboard.sources.openapi.config import OpenApiConfig


def problem(**config: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        OpenApiConfig.model_validate(config)
    return str(caught.value)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({}, "give a document, or actions"),
        ({"actions": [{"name": "a", "path": "/a"}]}, "need a base_url"),
        ({"document": "a", "base_url": "ftp://a"}, "write it as https://host/path"),
        ({"document": "a", "auth": {"kind": "magic"}}, "auth"),
        ({"document": "a", "auth": {"kind": "bearer", "token": ""}}, "token"),
        (
            {"document": "a", "auth": [{"kind": "none"}, {"kind": "bearer", "token": "t"}]},
            "cannot be combined with others",
        ),
        ({"document": "a", "include": {}}, "give tags, paths, methods or operations"),
        ({"document": "a", "exclude": {"methods": ["fetch"]}}, "fetch: write delete, get"),
        ({"document": "a", "overrides": {"x": {"projection": "a["}}}, "not JMESPath"),
        ({"document": "a", "overrides": {"x": {"effect": "none"}}}, "effect"),
        ({"document": "a", "actions": [{"name": "a", "path": "a"}]}, "path"),
        (
            {"document": "a", "actions": [{"name": "a", "path": "/a", "method": "fetch"}]},
            "write one of delete",
        ),
        ({"document": "a", "documnet": 1}, "documnet"),
        ({"document": "a", "timeout": 0}, "timeout"),
        ({"document": "a.json", "refresh": 60}, "refresh: only a document from a URL"),
        ({"document": {}, "refresh": 60}, "refresh: only a document from a URL"),
        ({"document": "https://a.test/a", "refresh": 0.5}, "at least 1 seconds, or 0"),
        ({"document": "https://a.test/a", "refresh": -1}, "refresh"),
        ({"document": "a", "headers": {"X-Team": "a\nb"}}, "line break or control character"),
        ({"document": "a", "headers": {"X Team": "a"}}, "String should match pattern"),
        ({"document": "a", "headers": {"X-Who": "{call.user}"}}, "there is no {call.user}; known"),
        ({"document": "a", "headers": {"Host": "a"}}, "headers.Host"),
        ({"document": "a", "headers": {"Host": "a"}}, "the client sets this header itself"),
        ({"document": "a", "headers": {"content-Length": "1"}}, "the client sets this header"),
        ({"document": "a", "headers": {"Transfer-Encoding": "a"}}, "the client sets this header"),
        ({"document": "a", "headers": {"CONNECTION": "close"}}, "the client sets this header"),
        (
            {"document": "a", "auth": {"kind": "bearer", "token": "t\r\n"}},
            "line break or control character",
        ),
        (
            {"document": "a", "auth": {"kind": "api_key", "key": "k\n"}},
            "line break or control character",
        ),
    ],
    ids=str,
)
def test_a_mistake_in_the_configuration_is_named(config: dict[str, Any], reason: str) -> None:
    assert reason in problem(**config)


def test_one_of_something_needs_no_list() -> None:
    config = OpenApiConfig.model_validate(
        {
            "document": "a",
            "auth": {"kind": "api_key", "key": "k", "in": "query"},
            "include": {"tags": ["a"]},
            "exclude": [{"methods": ["DELETE"]}],
        }
    )

    assert [auth.kind for auth in config.auth] == ["api_key"]
    assert config.exclude[0].methods == ("delete",)
    again = OpenApiConfig(document="a", auth=config.auth[0])  # pyright: ignore[reportArgumentType] # read as a list of one
    assert again.auth == config.auth


def test_credentials_are_in_no_text_of_the_configuration() -> None:
    config = OpenApiConfig.model_validate(
        {
            "document": {"info": "private"},
            "auth": [
                {"kind": "bearer", "token": "secret-1"},
                {"kind": "basic", "username": "u", "password": "secret-2"},
                {"kind": "api_key", "key": "secret-3"},
            ],
            "headers": {"X-Key": "secret-4"},
            "overrides": {"x": {"hidden": {"k": "secret-5"}}},
        }
    )

    assert "secret" not in repr(config)
    assert "secret" not in problem(auth={"kind": "bearer", "token": "secret", "tokn": 1})
