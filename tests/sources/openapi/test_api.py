from typing import Any

import pytest

from pegboard.errors import SourceUnavailable
from pegboard.sources.openapi.api import Api, base_url_of, build_api, title_of, version_of
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.document.loader import ApiDocument
from pegboard.sources.openapi.document.server_urls import BadServerUrl

PATHS = {"/a": {"get": {}}}
ROOT = {"openapi": "3.0.0", "paths": PATHS}


def read(root: dict[str, Any], url: str = "", **config: Any) -> tuple[Api, OpenApiConfig]:
    checked = OpenApiConfig.model_validate({"document": root, **config})
    return build_api(ApiDocument(files={"": root}, refused={}, url=url), checked), checked


@pytest.mark.parametrize(
    ("root", "version"),
    [
        ({"swagger": "2.0"}, "2.0"),
        ({"swagger": 2.0}, "2.0"),
        ({"openapi": "3.0.4"}, "3.0"),
        ({"openapi": 3.1}, "3.1"),
        ({"openapi": "3.1.1"}, "3.1"),
        ({"openapi": "3.2.0"}, "3.2"),
    ],
)
def test_known_versions_are_read(root: dict[str, Any], version: str) -> None:
    assert version_of(root) == version


@pytest.mark.parametrize(
    ("root", "found"),
    [
        ({"swagger": "1.2"}, "its version is '1.2'"),
        ({"openapi": "4.0.0"}, "its version is '4.0.0'"),
        ({"openapi": "x" * 99}, "its version is 'xxxxxxxxxxxxxxxxxxxx'"),
        ({"asyncapi": "2.0.0"}, "neither 'openapi' nor 'swagger'"),
    ],
    ids=["old", "new", "long", "another"],
)
def test_other_documents_are_refused(root: dict[str, Any], found: str) -> None:
    with pytest.raises(SourceUnavailable, match=found):
        version_of(root)


def test_half_a_document_is_refused() -> None:
    with pytest.raises(SourceUnavailable, match="has no 'paths', so that it has nothing to call"):
        read({"openapi": "3.0.0", "components": {}}, base_url="https://c.test")


@pytest.mark.parametrize(
    "version", [{"swagger": "2.0"}, {"openapi": "3.0.0"}, {"openapi": "3.1.0"}]
)
@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (None, "null"),
        ([{"/a": {"get": {}}}], "a list"),
        ("/a", "no mapping"),
        (False, "no mapping"),
    ],
    ids=["null", "list", "text", "bool"],
)
def test_paths_of_another_shape_are_refused(
    version: dict[str, Any], paths: object, found: str
) -> None:
    with pytest.raises(SourceUnavailable, match=f"The 'paths' of the document is {found}: write"):
        read({**version, "paths": paths}, base_url="https://c.test")


def test_actions_do_not_hide_that_the_paths_cannot_be_read() -> None:
    action = {"name": "a", "path": "/a"}

    with pytest.raises(SourceUnavailable, match="is null"):
        read({"openapi": "3.1.0", "paths": None}, base_url="https://c.test", actions=[action])


@pytest.mark.parametrize(
    "root", [{"openapi": "3.1.0", "webhooks": {}}, {"openapi": "3.0.0", "paths": {}}]
)
def test_a_document_without_operations_is_one_all_the_same(root: dict[str, Any]) -> None:
    assert read(root, base_url="https://c.test")[0].operations == ()


def test_actions_need_no_paths() -> None:
    action = {"name": "a", "path": "/a"}

    api, _ = read({"openapi": "3.0.0"}, base_url="https://c.test", actions=[action])

    assert [one.id for one in api.operations] == ["a"]


def test_the_base_is_the_operators_or_the_documents() -> None:
    root = ROOT | {"servers": [{"url": "https://a.test/1"}, {"url": "https://b.test"}]}
    swagger = {"swagger": "2.0", "paths": PATHS, "host": "d.test", "basePath": "/v2"}

    assert read(root)[0].base == "https://a.test/1"
    assert read(root, server=1)[0].base == "https://b.test"
    assert read(root, base_url="https://c.test/")[0].base == "https://c.test"
    assert read(swagger)[0].base == "https://d.test/v2"


def test_a_document_without_a_server_needs_a_base_url() -> None:
    with pytest.raises(SourceUnavailable, match="set base_url"):
        read(ROOT)


def test_an_operation_may_go_elsewhere_unless_the_operator_says_where() -> None:
    paths = {"/a": {"get": {"servers": [{"url": "https://up.test"}]}}, "/b": {"get": {}}}

    api, config = read(ROOT | {"paths": paths})
    assert base_url_of(api, api.operations[0], config) == "https://up.test"
    with pytest.raises(BadServerUrl, match="set base_url"):
        base_url_of(api, api.operations[1], config)

    api, config = read(ROOT | {"paths": paths}, base_url="https://a.test")
    assert base_url_of(api, api.operations[0], config) == "https://a.test"


@pytest.mark.parametrize(
    ("config", "url", "trusted"),
    [
        ({}, "", {"https://a.test"}),
        ({}, "https://docs.test/x.json", {"https://docs.test"}),
        ({"base_url": "https://c.test"}, "https://docs.test/x.json", {"https://c.test"}),
        ({"credential_origins": ["https://b.test/"]}, "", {"https://a.test", "https://b.test"}),
    ],
    ids=["file", "url", "base_url", "named"],
)
def test_only_origins_that_the_operator_chose_get_credentials(
    config: dict[str, Any], url: str, trusted: set[str]
) -> None:
    root = ROOT | {"servers": [{"url": "https://a.test/1"}]}

    assert read(root, url, **config)[0].trusted_origins == trusted


def test_actions_stand_beside_a_document() -> None:
    api, _ = read(ROOT, base_url="https://a.test", actions=[{"name": "mine", "path": "/m"}])

    assert [one.path for one in api.operations] == ["/a", "/m"]


def test_the_title_is_what_the_api_calls_itself() -> None:
    assert title_of({"info": {"title": " Shop "}}) == "Shop"
    assert title_of({"info": 3}) == ""
