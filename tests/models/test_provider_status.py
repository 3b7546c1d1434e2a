"""Statuses of providers as our errors."""

import pytest

from pegboard.core.ports.http import HttpResponse
from pegboard.errors import ConfigError, InvalidRequest, PegboardError, Unavailable
from pegboard.models.provider_status import encode_text, translate_status


def make_answer(status: int, content: bytes = b"a secret", *, wait: str = "") -> HttpResponse:
    headers = {"retry-after": wait} if wait else {}
    return HttpResponse(status=status, url="http://models", headers=headers, content=content)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (302, ConfigError),
        (401, ConfigError),
        (403, ConfigError),
        (404, ConfigError),
        (405, ConfigError),
        (400, InvalidRequest),
        (408, Unavailable),
        (429, Unavailable),
        (500, Unavailable),
    ],
)
def test_a_status_tells_who_can_resolve_it(status: int, error: type[PegboardError]) -> None:
    found = translate_status(make_answer(status), "openai:x", role="reranker")

    assert type(found) is error
    assert "openai:x" in str(found)
    assert str(status) in str(found)
    assert "secret" not in str(found)


def test_a_busy_provider_says_when_to_come_back() -> None:
    found = translate_status(make_answer(429, wait="7"), "openai:x", role="model")

    assert isinstance(found, Unavailable)
    assert found.retry_after == 7.0


def test_an_account_without_quota_is_not_asked_again() -> None:
    spent = make_answer(429, b'{"error": {"code": "insufficient_quota"}}')

    assert isinstance(translate_status(spent, "openai:x", role="model"), ConfigError)


def test_a_text_loses_halves_of_characters() -> None:
    assert encode_text("a\ud800b") == "a?b"
