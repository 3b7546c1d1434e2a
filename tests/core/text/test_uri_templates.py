import pytest

from pegboard.core.text.uri_templates import match_uri, variable_names


@pytest.mark.parametrize(
    ("template", "uri", "filled"),
    [
        ("docs://{page}", "docs://intro", {"page": "intro"}),
        ("docs://{page}", "docs://a%2Fb%20c", {"page": "a/b c"}),
        ("docs://{page}", "docs://a/b", None),
        ("docs://{page}", "docs://", None),
        ("docs://{page}/data", "docs://7/data", {"page": "7"}),
        ("docs://{+path}", "docs://a/b/c", {"path": "a/b/c"}),
        ("docs://{path*}", "docs://a/b", {"path": "a/b"}),
        ("docs:/{/path}", "docs://x", {"path": "x"}),
        ("db://t{?limit,offset}", "db://t?offset=2&limit=1", {"offset": "2", "limit": "1"}),
        ("db://{table}{?limit}", "db://t", {"table": "t"}),
        ("db://{table}{?limit}", "db://t?other=1", {"table": "t"}),
        ("geo://{lat},{lon}", "geo://1.5,2", {"lat": "1.5", "lon": "2"}),
        ("geo://{lat,lon}", "geo://1.5,2", {"lat": "1.5", "lon": "2"}),
        ("a.b://{x}", "aXb://1", None),
        ("file://{name}{.kind}", "file://read.md", {"name": "read", "kind": "md"}),
        ("plain://fixed", "plain://fixed", {}),
        ("page://{name:3}", "page://abc", {"name": "abc"}),
    ],
)  # fmt: skip
def test_a_uri_is_read_back_by_its_template(
    template: str, uri: str, filled: dict[str, str] | None
) -> None:
    assert match_uri(template, uri) == filled


def test_places_are_named_in_order() -> None:
    assert variable_names("db://{table}/{+path}{?limit,offset*}") == (
        "table",
        "path",
        "limit",
        "offset",
    )
