"""What looks like a credential is masked wherever it stands, and other text is left alone."""

import time
from typing import Any

import pytest

from pegboard.execution.results.masking import collect_texts, mask_credentials


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgres://ada:PLANTED@h/x", "postgres://[redacted]@h/x"),
        ("postgres://ada:PLAN@TED@h/x", "postgres://[redacted]@h/x"),
        ("postgres://ada:PLAN/TED@h/x", "postgres://[redacted]@h/x"),
        ("redis://PLANTED@h", "redis://[redacted]@h"),
        ("Authorization: Bearer PLANTED.x-y", "Authorization: Bearer [redacted]"),
        ("{'authorization': 'bearer PLANTED'}", "{'authorization': 'bearer [redacted]'}"),
        ("Authorization: Basic UExBTlRFRA==", "Authorization: Basic [redacted]"),
        ("password=PLANTED user=ada", "password=[redacted] user=ada"),
        ("user=ada password='PLAN TED'", "user=ada password=[redacted]"),
        ("passwd: PLANTED", "passwd: [redacted]"),
        ("GET /x?api_key=PLANTED&q=1", "GET /x?api_key=[redacted]&q=1"),
        ("X-Api-Key: PLANTED", "X-Api-Key: [redacted]"),
        ("access_token=PLANTED", "access_token=[redacted]"),
        ('{"client_secret": "PLAN\\"TED", "n": 1}', '{"client_secret": [redacted], "n": 1}'),
        ('"{\\"token\\": \\"PLANTED\\"}"', '"{\\"token\\": [redacted]}"'),
        ("{'token': b'PLANTED'}", "{'token': [redacted]}"),
        ("token=Bearer PLANTED", "token=[redacted] [redacted]"),
        ("SECRET_KEY = PLANTED", "SECRET_KEY = [redacted]"),
    ],
)
def test_credentials_are_masked_as_they_are_written(text: str, shown: str) -> None:
    assert mask_credentials(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "the token is missing",
        "http://host:80/path, ask ada@example.com",
        "a secret",
        "Basic usage",
        "password=[redacted] token: [redacted]",
        'File "/srv/tokens.py", line 3, in refresh',
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert mask_credentials(text) == text


@pytest.mark.parametrize(
    "piece", ["://", "://a:", "password", "token='", "Bearer ", "secret=\\", 'api_key="\\'], ids=str
)
def test_no_text_takes_long(piece: str) -> None:
    began = time.thread_time()
    mask_credentials(piece * (64_000 // len(piece)))

    assert time.thread_time() - began < 3.0


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a": "first one", "b": [{"c": "second"}], "short": "12345", "n": 123456}',
        b'{"a": "first one", "b": ["second"]}',
        {"a": "first one", "b": ({"second"}, b"second")},
    ],
    ids=["text", "bytes", "mapping"],
)
def test_the_longer_texts_of_arguments_are_found(arguments: Any) -> None:
    assert collect_texts(arguments, None) == {"first one", "second"}


def test_what_is_no_json_is_one_text_and_what_holds_itself_ends() -> None:
    endless: dict[str, Any] = {"a": "a text"}
    endless["b"] = endless

    assert collect_texts("not JSON", endless) == {"not JSON", "a text"}
