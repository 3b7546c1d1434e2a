"""The shape of the `models` section, right and wrong."""

from pathlib import Path

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime.board_file.language_models import LanguageModels
from pegboard.runtime.board_file.load import parse_board
from pegboard.runtime.secret_values import secret_values


def models_of(text: str, **environ: str) -> LanguageModels:
    return parse_board(f"models:\n{text}", environ, path=Path("/b/board.yaml")).board.models


def test_roles_and_models_are_read() -> None:
    models = models_of(
        "  smart: openai:gpt-5.2\n"
        "  fast: small\n"
        "  named:\n"
        "    small:\n"
        "      model: openai:qwen3\n"
        "      base_url: http://127.0.0.1:8080/v1/\n"
        '      api_key: "${LOCAL_KEY}"\n'
        "      fallbacks: [openai:gpt-5-mini]\n"
        "      limits: {requests_per_minute: 60, concurrency: 2}\n",
        LOCAL_KEY="sk-local",
    )
    small = models.named["small"]

    assert (models.smart, models.fast, models.embed) == ("openai:gpt-5.2", "small", None)
    assert small.base_url == "http://127.0.0.1:8080/v1"
    assert small.fallbacks == ("openai:gpt-5-mini",)
    assert (small.limits.requests_per_minute, small.limits.concurrency) == (60, 2)
    assert (small.retries, small.tools, small.schemas) == (2, True, True)
    assert "sk-local" in secret_values([models])
    assert "sk-local" not in repr(models)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  smrt: a:b\n", "board.yaml:2: models.smrt: unknown key; did you mean 'smart'"),
        ("  named:\n    x: {}\n", "models.named.x.model: missing"),
        ("  named:\n    fast: {model: a:b}\n", "'fast' is a role"),
        (
            "  named:\n    x:\n      model: a:b\n      base_url: ftp://x\n",
            "board.yaml:5: models.named.x.base_url: write it as http",
        ),
        ("  named:\n    x: {model: a:b, base_url: 'http://u:p@h/v1'}\n", "without credentials"),
        ("  named:\n    x: {model: a:b, limits: {concurrency: 0}}\n", "concurrency"),
        ("  named:\n    x: {model: a:b, api_keys: k}\n", "did you mean 'api_key'"),
    ],
    ids=["role", "model", "role as name", "scheme", "credentials", "limit", "key"],
)
def test_a_mistake_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        models_of(text)

    assert message in str(raised.value)
