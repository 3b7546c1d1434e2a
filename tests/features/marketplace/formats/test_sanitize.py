"""Foreign values made fit: hostile, huge, of the wrong type."""

from typing import Any

import pytest

from pegboard.features.marketplace.entries import Label, UnusableEntry
from pegboard.features.marketplace.formats import sanitize


@pytest.mark.parametrize(
    ("value", "made"),
    [
        pytest.param(" a\n\tb  c ", "a b c", id="white space"),
        pytest.param("a\x1b[31mred\x07", "a [31mred", id="steers a terminal"),
        pytest.param("pay\u202eeno\u200b", "pay eno", id="turns the text around"),
        pytest.param("x" * 300, "x" * 199 + "…", id="long"),
        pytest.param(None, "", id="none"),
        pytest.param(["a"], "", id="a list"),
        pytest.param(7, "", id="a number"),
    ],
)
def test_a_text_is_one_short_line_that_can_be_seen(value: Any, made: str) -> None:
    assert sanitize.line(value) == made


def test_a_longer_text_is_cut_later() -> None:
    assert len(sanitize.text("x " * 5000)) == sanitize.MAX_TEXT


@pytest.mark.parametrize(
    ("value", "made"),
    [
        pytest.param("https://a.example/b?c=d", "https://a.example/b?c=d", id="an address"),
        pytest.param("http://127.0.0.1:9/x", "http://127.0.0.1:9/x", id="the guard's to refuse"),
        pytest.param("ftp://a.example", "", id="another scheme"),
        pytest.param("file:///etc/passwd", "", id="a file"),
        pytest.param("/etc/passwd", "", id="a path"),
        pytest.param("javascript:alert(1)", "", id="a script"),
        pytest.param("https://user:pass@a.example", "", id="a password"),
        pytest.param("https://a.example/ b", "", id="a space"),
        pytest.param("https://a.example/\x00", "", id="a control character"),
        pytest.param("https://a.example:x/", "", id="no port"),
        pytest.param("https://[a", "", id="no host"),
        pytest.param("https://" + "a" * 3000, "", id="long"),
        pytest.param(None, "", id="none"),
    ],
)
def test_an_address_is_one_of_the_web_without_credentials(value: Any, made: str) -> None:
    assert sanitize.address(value) == made


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="empty"),
        pytest.param(None, id="none"),
        pytest.param("../../etc/passwd", id="climbs"),
        pytest.param("a/../b", id="climbs inside"),
        pytest.param("/a", id="begins at the root"),
        pytest.param("a//b", id="an empty part"),
        pytest.param("a b", id="a space"),
        pytest.param("a?b=c", id="a query"),
        pytest.param("a%2e", id="escaped"),
        pytest.param("a\\b", id="a backslash"),
        pytest.param("a\x00b", id="a control character"),
        pytest.param("a\u202eb", id="turns around"),
        pytest.param("x" * 201, id="long"),
    ],
)
def test_a_name_that_nobody_could_write_is_none(name: Any) -> None:
    with pytest.raises(UnusableEntry):
        sanitize.entry_name(name)


def test_words_count_once_and_not_more_than_anybody_reads() -> None:
    told = [("tag", ["A", "a", 7, "", "b" * 100]), ("category", "c"), ("keyword", {"d": 1})]

    made = sanitize.labels(told)

    assert made == (
        Label(name="A", told_as="tag"),
        Label(name="b" * 59 + "…", told_as="tag"),
        Label(name="c", told_as="category"),
    )
    assert len(sanitize.labels([("tag", [str(i) for i in range(500)])])) == 20


@pytest.mark.parametrize(
    ("wanted", "made"),
    [
        pytest.param("Weather_Server.io", "weather-server-io", id="made legible"),
        pytest.param("-" * 50, "other", id="nothing left"),
        pytest.param("日本", "other", id="not ASCII"),
        pytest.param("a" * 50, "a" * 20, id="long"),
    ],
)
def test_a_short_name_is_one_that_a_source_may_have(wanted: str, made: str) -> None:
    assert sanitize.short_name(wanted, "other") == made
