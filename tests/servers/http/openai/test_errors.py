"""Errors in OpenAI's format."""

import pytest

from pegboard.servers.http.openai.errors import error_body, openai_refusals, status_of


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("request_invalid", 400, "invalid_request_error"),
        ("rate_limited", 429, "rate_limit_error"),
        ("quota_exceeded", 429, "insufficient_quota"),
        ("unavailable", 503, "server_error"),
    ],
    ids=["the caller", "a limit", "a quota", "the server"],
)
def test_the_type_of_an_error_says_who_can_help(code: str, status: int, kind: str) -> None:
    assert error_body("No.", code, status, param="model") == {
        "error": {"message": "No.", "type": kind, "param": "model", "code": code}
    }


@pytest.mark.parametrize(
    ("code", "status"),
    [("rate_limited", 429), ("limit_reached", 422), ("model_not_configured", 409), ("x", 500)],
    ids=str,
)
def test_the_error_of_a_run_has_the_status_of_its_class(code: str, status: int) -> None:
    assert status_of({"code": code}) == status


def test_errors_of_authentication_stay_problems() -> None:
    known = openai_refusals(404)

    assert "model" not in known[401]
    assert "model" in known[404]
