"""Challenges of protected servers."""

import pytest

from pegboard.core.oauth_challenge import find_missing_scopes, read_challenge


@pytest.mark.parametrize(
    ("header", "asked"),
    [
        (
            'Bearer resource_metadata="https://a.example/m", scope="a b"',
            {"resource_metadata": "https://a.example/m", "scope": "a b"},
        ),
        ("Bearer error=invalid_token, Scope=a", {"error": "invalid_token", "scope": "a"}),
        ('Basic realm="x", Bearer error = "e"', {"realm": "x", "error": "e"}),
        ('Bearer error="e", DPoP error="f", algs="ES256"', {"error": "e", "algs": "ES256"}),
        ('Bearer scope=""', {"scope": ""}),
        ("Negotiate", {}),
        ("Basic " + "x" * 100_000, {}),
        ("", {}),
    ],
    ids=[
        "quoted",
        "tokens",
        "two schemes",
        "one name twice",
        "empty",
        "no parameters",
        "long",
        "none",
    ],
)
def test_the_parameters_of_a_challenge_are_read(header: str, asked: dict[str, str]) -> None:
    assert read_challenge(header) == asked


@pytest.mark.parametrize(
    ("header", "scopes"),
    [
        ('Bearer error="insufficient_scope", scope="a b"', ("a", "b")),
        ("Bearer scope=a, error=insufficient_scope", ("a",)),
        ('Bearer error="insufficient_scope"', ()),
        ('Bearer error="invalid_token", scope="a"', ()),
        ('Bearer realm="insufficient_scope", scope="a"', ()),
        ('Bearer error="insufficient_scope", scope="a b", DPoP error="use_nonce"', ("a", "b")),
        ('DPoP error="use_nonce", scope="c", Bearer error="insufficient_scope", scope=a', ("a",)),
        ('Bearer error="insufficient_scope", DPoP scope="c"', ()),
        ("Bearer scope=a b, error=insufficient_scope", ("a",)),
    ],
    ids=[
        "quoted",
        "tokens",
        "unnamed",
        "another error",
        "another parameter",
        "before another challenge",
        "after another challenge",
        "of another challenge",
        "without quotes",
    ],
)
def test_the_scopes_that_a_request_has_lacked_are_found(
    header: str, scopes: tuple[str, ...]
) -> None:
    assert find_missing_scopes(header) == scopes
