import pytest

from pegboard.core.ports.http import HttpResponse

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


def response(**headers: str) -> HttpResponse:
    return HttpResponse(status=503, url="http://a.example/", headers=headers, content=b"")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Tue, 14 Nov 2023 22:14:20 GMT", 60.0),
        ("Tue, 14 Nov 2023 22:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(value: str, seconds: float | None) -> None:
    assert response(**{"retry-after": value}).retry_after(NOW) == seconds


def test_without_the_header_nobody_says_when_to_retry() -> None:
    assert response().retry_after(NOW) is None


def test_the_media_type_has_no_parameters_and_is_in_lower_case() -> None:
    assert response(**{"content-type": "Text/HTML; charset=x"}).media_type == "text/html"
