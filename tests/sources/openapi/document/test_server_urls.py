import pytest

from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.server_urls import (
    BadServerUrl,
    check_base_url,
    origin_of,
    own_servers,
    server_url,
    swagger_servers,
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.test/", "https://a.test"),
        ("http://a.test:8080/v1//", "http://a.test:8080/v1"),
        ("https://[::1]:1/x", "https://[::1]:1/x"),
    ],
)
def test_a_base_has_no_last_slash(url: str, expected: str) -> None:
    assert check_base_url(url) == expected


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://a.test", "https://host/path"),
        ("a.test", "https://host/path"),
        ("https://", "https://host/path"),
        ("https://a.test:port", "https://host/path"),
        ("https://[::1", "https://host/path"),
        ("https://a.test/{x}", "https://host/path"),
        ("https://a.test/ b", "https://host/path"),
        ("https://u:p@a.test", "user name"),
        ("https://a.test?x=1", "'\\?' or '#'"),
        ("https://a.test#x", "'\\?' or '#'"),
    ],
)
def test_a_base_is_a_plain_address(url: str, reason: str) -> None:
    with pytest.raises(BadServerUrl, match=reason):
        check_base_url(url)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://A.test/x", "https://a.test:443"),
        ("http://a.test:80", "http://a.test/y"),
        ("https://[::1]/", "https://[::1]:443"),
    ],
)
def test_equal_origins_are_equal_texts(one: str, other: str) -> None:
    assert origin_of(one) == origin_of(other)


def test_another_port_is_another_origin() -> None:
    assert origin_of("https://a.test:8443/x") == "https://a.test:8443"


SERVERS = [
    {
        "url": "https://{region}.a.test/{path}",
        "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}, "path": {"default": "v1"}},
    },
    {"url": "/v2"},
    {"url": "https://{who}.test"},
    {
        "url": "https://a.test:{port}/v{version}",
        "variables": {"port": {"default": 8443, "enum": [8443, "443"]}, "version": {"default": 2}},
    },
]


@pytest.mark.parametrize(
    ("index", "variables", "document", "expected"),
    [
        (0, {}, "", "https://eu.a.test/v1"),
        (0, {"region": "us", "path": ""}, "", "https://us.a.test"),
        (1, {}, "https://docs.test/api/openapi.json", "https://docs.test/v2"),
        (2, {"who": "me"}, "", "https://me.test"),
        (3, {}, "", "https://a.test:8443/v2"),
        (3, {"port": "443"}, "", "https://a.test:443/v2"),
    ],
)
def test_a_server_has_its_variables_filled_in(
    index: int, variables: dict[str, str], document: str, expected: str
) -> None:
    assert server_url(SERVERS, index, variables, document) == expected


def test_without_servers_it_is_the_root_of_the_document() -> None:
    assert server_url([], 0, {}, "https://docs.test/api/openapi.json") == "https://docs.test"


def test_a_file_without_servers_says_that_it_names_none() -> None:
    with pytest.raises(BadServerUrl, match=r"names no server: set base_url"):
        server_url([], 0, {}, "")


@pytest.mark.parametrize(
    ("index", "variables", "reason"),
    [
        (0, {"region": "mars"}, "region is one of eu, us; found 'mars'"),
        (1, {}, "'/v2', which is not a URL: set base_url"),
        (2, {}, "Set server_variables: {who: ...}"),
        (2, {"who": "evil.test/x?"}, "set base_url"),
        (3, {"port": "1"}, "port is one of 8443, 443; found '1'"),
        (4, {}, "has 4 servers; there is no server 4"),
    ],
)
def test_a_server_that_leads_nowhere_says_why(
    index: int, variables: dict[str, str], reason: str
) -> None:
    with pytest.raises(BadServerUrl, match=reason):
        server_url(SERVERS, index, variables, "")


@pytest.mark.parametrize(
    ("document", "url", "expected"),
    [
        (
            {"host": "a.test", "basePath": "/v1", "schemes": ["http", "https"]},
            "",
            ["https://a.test/v1", "http://a.test/v1"],
        ),
        ({"host": "a.test", "schemes": ["ws"]}, "", ["https://a.test/"]),
        ({"host": "a.test"}, "http://docs.test/x", ["http://a.test/"]),
        ({"basePath": "/v1"}, "", ["/v1"]),
        ({}, "", ["/"]),
    ],
)
def test_swagger_says_it_in_three_keys(
    document: dict[str, object], url: str, expected: list[str]
) -> None:
    assert [server["url"] for server in swagger_servers(document, url)] == expected


def test_an_operation_may_have_servers_of_its_own() -> None:
    item = LocatedNode(node={"servers": [{"url": "/path"}]})

    assert own_servers(item, {"servers": [{"url": "/op"}]}) == [{"url": "/op"}]
    assert own_servers(item, {}) == [{"url": "/path"}]
    assert own_servers(LocatedNode(node={}), {}) == ()
