"""The models that callers may choose."""

import pytest

from pegboard.core.principal import LOCAL
from pegboard.errors import ModelNotConfigured
from pegboard.features.agents import ModelChoice, ModelChoices

CHOICES = ModelChoices(
    lambda: [
        ModelChoice(name="main", title="Main", provider="openai", role="smart", aliases=("smart",)),
        ModelChoice(name="spare", title="Spare", provider="anthropic"),
    ]
)


def test_models_are_shown_with_title_provider_and_role() -> None:
    assert CHOICES.list(principal=LOCAL) == [
        {"name": "main", "title": "Main", "provider": "openai", "role": "smart"},
        {"name": "spare", "title": "Spare", "provider": "anthropic", "role": ""},
    ]


@pytest.mark.parametrize("name", ["", "main", "smart", "spare"])
def test_a_name_of_the_board_is_chosen(name: str) -> None:
    assert CHOICES.resolve_name(name, principal=LOCAL) == name


@pytest.mark.parametrize("name", ["fast", "Main", "openai:gpt-5.2", "main "])
def test_any_other_name_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(ModelNotConfigured, match=r"no model .* choose one of main, spare\."):
        CHOICES.resolve_name(name, principal=LOCAL)


def test_without_models_none_can_be_chosen() -> None:
    with pytest.raises(ModelNotConfigured, match="none is configured"):
        ModelChoices(list).resolve_name("main", principal=LOCAL)
