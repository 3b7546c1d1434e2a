"""The configuration of a model that a person adds: closed, without a secret, within bounds."""

from typing import Any

import pytest

from pegboard.errors import InvalidRequest
from pegboard.runtime.model_config import read_model_config

WRONG: dict[str, dict[str, Any]] = {
    "config.model": {"base_url": "https://a.example"},
    "config.provider": {"model": "x", "provider": "planted"},
    "config.base_url": {"model": "x", "base_url": "file:///etc/planted"},
    "without credentials": {"model": "x", "base_url": "https://user:planted@a.example"},
    "and a query": {"model": "x", "base_url": "https://a.example?key=planted"},
    "write it as": {"model": "x", "base_url": "https://[planted"},
    "config.api_key": {"model": "x", "api_key": "planted"},
    "config.price.input": {"model": "x", "price": {"input": -1, "output": 0}},
    "config.price.output": {"model": "x", "price": {"input": 1, "output": float("nan")}},
}


@pytest.mark.parametrize("part", WRONG)
def test_a_wrong_configuration_is_refused_and_not_repeated(part: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read_model_config(WRONG[part])

    assert part in str(refused.value)
    assert "planted" not in str(refused.value)


def test_a_model_needs_no_more_than_its_name() -> None:
    config = read_model_config({"model": "gpt-5.2"})

    assert (config.provider, config.base_url, config.price) == ("openai", "", None)


def test_an_address_is_stored_without_its_last_slash() -> None:
    config = read_model_config({"model": "qwen/qwen3 8b", "base_url": "https://a.example/v1/"})

    assert config.base_url == "https://a.example/v1"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"model": "openai:gpt-5.2"}, ("openai", "gpt-5.2")),
        ({"model": "anthropic:claude"}, ("anthropic", "claude")),
        ({"model": "openai:gpt-5.2", "provider": "openai"}, ("openai", "gpt-5.2")),
        ({"model": "llama3:8b"}, ("openai", "llama3:8b")),
        ({"model": "openai:gpt-5.2", "provider": "anthropic"}, ("anthropic", "openai:gpt-5.2")),
    ],
    ids=["openai", "anthropic", "said twice", "tag", "another provider"],
)
def test_a_model_may_be_named_with_its_provider(
    given: dict[str, Any], found: tuple[str, str]
) -> None:
    config = read_model_config(given)

    assert (config.provider, config.model) == found
