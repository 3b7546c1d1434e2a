"""A definition is shown as it was given, and its secrets are not."""

from typing import Any

import pytest

from pegboard.features.catalogue.queries import show_definition


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (
            {"url": "https://ada:hunter2@api.example.com/x"},
            {"url": "https://ada:[redacted]@api.example.com/x"},
        ),
        (
            {"url": "https://api.example.com/x?a=1&api_key=k17&b=2#c"},
            {"url": "https://api.example.com/x?a=1&api_key=[redacted]&b=2#c"},
        ),
        (
            {"agent_config": {"max_tokens": 5, "headers": {"Authorization": "x"}, "tools": ["a"]}},
            {
                "agent_config": {
                    "max_tokens": 5,
                    "headers": {"Authorization": "[redacted]"},
                    "tools": ["a"],
                }
            },
        ),
        ({"agent_config": {"keys": ["a", 1]}}, {"agent_config": {"keys": ["[redacted]", 1]}}),
        ({"input_schema": {"token": "string"}}, {"input_schema": {"token": "string"}}),
        ({"import_": "a.b:c", "effect": None}, {"import": "a.b:c"}),
        ({"description": "with sesame in it"}, {"description": "with *** in it"}),
    ],
    ids=["password", "query", "agent", "list", "schema", "words", "known secret"],
)
def test_what_is_secret_is_masked(given: dict[str, Any], shown: dict[str, Any]) -> None:
    assert show_definition(given, lambda text: text.replace("sesame", "***")) == shown


def test_a_board_without_secrets_shows_all() -> None:
    given = {"tool_id": "a_v1", "timeout_ms": 5, "description": "sesame"}

    assert show_definition(given, None) == given
