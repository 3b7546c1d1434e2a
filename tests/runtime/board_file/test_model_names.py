"""What the `models` section names exists."""

from pathlib import Path

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import LoadedBoard, parse_board
from pegboard.runtime.board_file.model_names import check_models

NAMED = "  named:\n    small: {model: 'openai:qwen3', fallbacks: [large]}\n    large: {model: %s}\n"


def loaded(text: str) -> LoadedBoard:
    return parse_board(f"models:\n{text}", {}, path=Path("/b/board.yaml"))


def test_names_of_the_section_and_of_providers_are_accepted() -> None:
    check_models(loaded("  smart: small\n  fast: anthropic:x\n" + NAMED % "'anthropic:y'"))
    check_models(parse_board("sources: []", {}, path=Path("board.yaml")))


def test_every_unknown_name_is_told_with_its_line() -> None:
    with pytest.raises(ConfigError) as raised:
        check_models(loaded("  smart: smal\n  fast: nobody:x\n" + NAMED % "'gpt-5'"))

    missing = "there is no model 'gpt-5' in 'named'; write 'provider:name'"
    assert str(raised.value).splitlines() == [
        "board.yaml:2: models.smart: there is no model 'smal' in 'named'; did you mean 'small'?",
        "board.yaml:3: models.fast: write 'provider:name'; providers are anthropic, openai",
        f"board.yaml:6: models.named.large.model: {missing}",
    ]


def test_a_role_takes_models_of_its_own_providers_only() -> None:
    named = "  named:\n    a: {model: 'cohere:x'}\n    b: {model: 'anthropic:y'}\n"
    check_models(loaded("  rerank: a\n" + named))
    with pytest.raises(ConfigError) as raised:
        check_models(loaded("  smart: a\n  rerank: b\n" + named))

    assert str(raised.value).splitlines() == [
        "board.yaml:2: models.smart: 'a' is of cohere; providers are anthropic, openai",
        "board.yaml:3: models.rerank: 'b' is of anthropic; providers are cohere, jina, openai, tei",
    ]


def test_a_fallback_that_is_none_is_told() -> None:
    with pytest.raises(ConfigError, match=r"models\.named\.a\.fallbacks\.0: there is no model 'b'"):
        check_models(loaded("  named:\n    a: {model: 'openai:x', fallbacks: [b]}\n"))
