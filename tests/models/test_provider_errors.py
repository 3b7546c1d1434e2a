"""Errors of providers as ours."""

from pydantic_ai import exceptions

from pegboard.errors import ConfigError, ContextTooLong, InvalidRequest, Unavailable
from pegboard.models.provider_errors import translate_error


def test_a_rate_limit_says_when_to_come_back() -> None:
    error = exceptions.ModelRateLimitError("m", "slow down", retry_after=7.0)
    ours = translate_error(error, "openai:m")

    assert isinstance(ours, Unavailable)
    assert ours.retry_after == 7.0
    assert "slow down" not in str(ours)


def test_a_missing_key_is_a_fault_of_the_configuration() -> None:
    ours = translate_error(exceptions.UserError("set sk-123"), "openai:m")

    assert isinstance(ours, ConfigError)
    assert "sk-123" not in str(ours)


def test_a_conversation_that_is_too_long_can_be_told_from_other_refusals() -> None:
    error = exceptions.ModelContextWindowExceededError("m", "9000 tokens")

    assert isinstance(translate_error(error, "openai:m"), ContextTooLong)


def test_another_error_is_none_of_the_providers() -> None:
    assert translate_error(ValueError("x"), "openai:m") is None


def test_an_address_that_is_refused_is_not_called_unreachable() -> None:
    error = exceptions.ModelConnectionError("m", "Connection error.")
    error.__cause__ = InvalidRequest("Refused to connect to '169.254.169.254' port 80.")
    ours = translate_error(error, "openai:m")

    assert isinstance(ours, ConfigError)
    assert "is not allowed: Refused to connect to '169.254.169.254'" in str(ours)


def test_the_status_of_a_redirect_is_found_below_the_error() -> None:
    error = exceptions.ModelAPIError("m", "Error code: 307")
    error.__cause__ = exceptions.ModelHTTPError(307, "m")
    ours = translate_error(error, "openai:m")

    assert isinstance(ours, ConfigError)
    assert "redirects requests (307)" in str(ours)
