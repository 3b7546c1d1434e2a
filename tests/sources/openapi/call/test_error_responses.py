import json
from typing import Any

import pytest

from pegboard.core.ports.http import HttpResponse
from pegboard.errors import InvalidRequest, PegboardError, ToolFailed, Unavailable
from pegboard.sources.openapi.call.error_responses import (
    error_text,
    is_error,
    mask_secrets,
    to_error,
)


def answered(
    status: int, body: Any = None, kind: str = "application/json", **headers: str
) -> HttpResponse:
    content = json.dumps(body).encode() if not isinstance(body, bytes | None) else body or b""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse(
        status=status,
        url="https://a.test/?key=k",
        headers={"content-type": kind, **named},
        content=content,
    )


def refused(
    status: int, body: Any = None, *, credential: str = "shop/bearer", **headers: str
) -> PegboardError:
    answer = answered(status, body, **headers)
    return to_error(answer, api="shop", credential=credential, now=1000.0, secrets=("s3cret",))


@pytest.mark.parametrize("status", [400, 404, 409, 410, 411, 412, 413, 414, 416, 422, 428])
def test_what_the_caller_can_fix_says_so(status: int) -> None:
    error = refused(status, {"message": "Name is missing."})

    assert type(error) is InvalidRequest
    assert f"shop answered {status}" in str(error)
    assert str(error).endswith(": Name is missing.")


@pytest.mark.parametrize(
    ("status", "credential", "words"),
    [
        (401, "shop/bearer", "It does not accept the credential 'shop/bearer'."),
        (403, "shop/bearer", "The credential 'shop/bearer' may not do this."),
        (401, "", "No credential was sent: set auth in the source's config."),
    ],
)
def test_a_refused_credential_is_named(status: int, credential: str, words: str) -> None:
    error = refused(status, credential=credential)

    assert type(error) is ToolFailed
    assert str(error).endswith(words)
    assert not error.retryable


@pytest.mark.parametrize(
    ("status", "nothing_done"),
    [(408, False), (425, True), (429, True), (500, False), (502, False), (503, False)],
)
def test_what_may_pass_can_be_tried_later(status: int, nothing_done: bool) -> None:
    error = refused(status, retry_after="7")

    assert isinstance(error, Unavailable)
    assert (error.retry_after, error.nothing_done, error.retryable) == (7.0, nothing_done, True)


@pytest.mark.parametrize(
    ("header", "wait"),
    [("Thu, 01 Jan 1970 00:17:00 GMT", 20.0), ("9" * 400, 86_400.0), ("soon", None)],
    ids=["date", "endless", "nonsense"],
)
def test_the_wait_is_bounded(header: str, wait: float | None) -> None:
    assert refused(503, retry_after=header).retry_after == wait


@pytest.mark.parametrize("status", [402, 405, 406, 415, 451, 501, 499])
def test_anything_else_is_a_failure(status: int) -> None:
    assert type(refused(status)) is ToolFailed


def test_a_redirect_that_leads_nowhere_is_a_failure() -> None:
    assert str(refused(302)) == "shop redirects the request (302) without a location."


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"title": "Bad", "detail": "No name."}, "Bad. No name"),
        ({"message": "Not Found", "documentation_url": "https://x"}, "Not Found"),
        ({"error": "invalid_request", "error_description": "No id"}, "invalid_request. No id"),
        ({"error": {"message": "No such charge", "code": "missing"}}, "No such charge"),
        ({"detail": [{"loc": ["body", "age"], "msg": "not a number"}]}, "body.age: not a number"),
        ({"errors": ["one.", "two"]}, "one. two"),
        ({"errors": [{"field": "name", "message": "too short"}, {}]}, "name: too short."),
        ({"errors": [str(number) for number in range(9)]}, "0. 1. 2. 3. 4"),
        ({"message": "a", "title": "a"}, "a"),
        ("plain text", "plain text"),
        ([1, 2], ""),
        ({"message": "a\r\nb\x00\tc"}, "a b c"),
        ({"message": "x" * 1000}, "x" * 399 + "…"),
        (b"{", ""),
        (b"[" * 20_000, ""),
        (b'{"message": "\\ud800"}', "?"),
    ],
    ids=range(16),
)
def test_the_words_of_the_api_are_short_and_in_one_line(body: Any, words: str) -> None:
    assert error_text(answered(400, body)) == words


def test_pages_for_people_have_no_words() -> None:
    assert error_text(answered(500, b"<html>trace</html>", "text/html")) == ""
    assert (
        error_text(answered(500, b"down for\nmaintenance", "text/plain")) == "down for maintenance"
    )


@pytest.mark.parametrize("status", [500, 501, 503, 599])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"Traceback: db.internal:5432 says no", "text/plain"),
        ({"message": "db.internal:5432 says no"}, "application/json"),
    ],
    ids=["text", "json"],
)
def test_the_insides_of_an_api_that_fails_are_for_the_operator(
    status: int, body: Any, kind: str
) -> None:
    answer = answered(status, body, kind)

    error = to_error(answer, api="shop", credential="", now=1000.0)

    assert "db.internal" not in str(error)
    assert str(error).startswith(f"shop answered {status}")
    assert str(error).endswith(". The fault is the API's; its response is stored for the operator.")
    assert "db.internal:5432 says no" in str(error.__cause__)


def test_a_secret_that_the_api_repeats_is_masked_everywhere() -> None:
    error = refused(400, {"message": "bad key s3cret", "debug": "s3cret"})

    assert "s3cret" not in str(error)
    assert "[redacted]" in str(error)
    assert "s3cret" not in repr(error.__cause__)
    assert '"debug"' in str(error.__cause__)


def test_secrets_are_masked_as_urls_write_them_too() -> None:
    assert mask_secrets("?k=a%2Fb&l=a/b", ("a/b",)) == "?k=[redacted]&l=[redacted]"


@pytest.mark.parametrize(
    ("status", "expected"), [(200, False), (299, False), (304, False), (302, True), (404, True)]
)
def test_only_good_answers_are_no_refusals(status: int, expected: bool) -> None:
    assert is_error(status) is expected
