import pytest
from fastapi import Request

from pegboard.servers.http.picture_responses import choose_format, svg_response


@pytest.mark.parametrize(
    ("given", "accept", "wanted"),
    [
        ("", "", "json"),
        ("", "*/*", "json"),
        ("", "application/json", "json"),
        ("", "text/html,application/xhtml+xml,*/*;q=0.8", "json"),
        ("", "image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.8", "svg"),
        ("", "image/svg+xml, application/json", "json"),
        ("json", "image/svg+xml", "json"),
        ("mermaid", "image/svg+xml", "mermaid"),
    ],
)
def test_the_query_decides_before_what_is_accepted(given: str, accept: str, wanted: str) -> None:
    headers = [(b"accept", accept.encode())] if accept else []

    assert choose_format(Request({"type": "http", "headers": headers}), given) == wanted


def test_a_picture_allows_its_own_style_alone() -> None:
    policy = svg_response("<svg/>").headers["content-security-policy"]

    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
