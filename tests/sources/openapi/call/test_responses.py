import pytest

from pegboard.core.ports.http import HttpResponse
from pegboard.core.result import ToolResult
from pegboard.errors import ToolFailed
from pegboard.sources.openapi.call.responses import (
    body_text,
    file_name,
    to_result,
    with_note,
)


def response(
    content: bytes = b"", kind: str = "", *, cut: bool = False, **headers: str
) -> HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if kind:
        named["content-type"] = kind
    return HttpResponse(
        status=200, url="https://a.test/x?key=secret", headers=named, content=content, truncated=cut
    )


def result(content: bytes, kind: str, *, projection: str = "", cut: bool = False) -> ToolResult:
    answer = response(content, kind, cut=cut)
    return to_result(answer, method="get", action="op", projection=projection)


BIG = 123456789012345678901234567890


@pytest.mark.parametrize(
    ("content", "kind", "structured", "text"),
    [
        (b'{"a": [1, 2]}', "application/json", {"a": [1, 2]}, '{"a":[1,2]}'),
        (b"[]", "application/problem+json; charset=utf-8", [], "[]"),
        (b"3", "application/json", 3, "3"),
        (b'"x"', "application/json", "x", "x"),
        (b"null", "application/json", None, "null"),
        ("\ufeff{}".encode(), "application/json", {}, "{}"),
        (str(BIG).encode(), "application/json", BIG, str(BIG)),
        ("ä".encode(), "text/plain", None, "ä"),
        ("ä".encode("latin-1"), "text/csv; charset=ISO-8859-1", None, "ä"),
        (b"<a/>", "application/atom+xml", None, "<a/>"),
        ("ä".encode(), "text/plain; charset=nonsense", None, "ä"),
        (b' {"a": 1}', "", {"a": 1}, '{"a":1}'),
        (b'{"a": ', "", None, '{"a": '),
        ("ä".encode(), "", None, "ä"),
    ],
)
def test_json_is_a_value_and_text_is_text(
    content: bytes, kind: str, structured: object, text: str
) -> None:
    found = result(content, kind)

    assert (found.structured, found.text) == (structured, text)


def test_what_is_empty_is_told() -> None:
    assert result(b"", "application/json").text == "Done. The API answered 200 without content."


def test_broken_json_is_given_as_it_came() -> None:
    found = result(b'{"a": ', "application/json")

    assert found.structured is None
    assert found.text == '{"a": \n[The response is not the JSON that it declares.]'


@pytest.mark.parametrize("said", [b'{"a": NaN}', b"[1, -Infinity]", b"[1e999]", b'"\\ud800"'])
def test_what_json_has_no_word_for_is_given_as_it_came(said: bytes) -> None:
    found = result(said, "application/json")

    assert found.structured is None
    assert found.text.startswith(f"{said.decode()}\n[The response is not the JSON")


@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_what_was_cut_is_told(kind: str) -> None:
    found = result(b"[1, 2", kind, cut=True)

    assert found.structured is None
    assert found.text == "[1, 2\n[The response is longer; it was cut after 5 bytes.]"


def test_json_nested_too_deep_is_given_as_it_came() -> None:
    found = result(b"[" * 20_000, "application/json")

    assert "not the JSON that it declares" in found.text


def test_anything_else_is_a_file() -> None:
    found = result(b"\x89PNG", "image/png")

    (file,) = found.artifacts
    assert (file.name, file.media_type, file.size) == ("op.png", "image/png", 4)
    assert file.data == b"\x89PNG"
    assert found.text == "[file op.png, image/png, 4 bytes]"
    assert result(b"\0", "").artifacts[0].name == "op.bin"
    assert "cut after 4 bytes" in result(b"\x89PNG", "image/png", cut=True).text


def test_a_file_has_the_name_that_the_answer_gives() -> None:
    answer = response(b"\0", "image/png", content_disposition='attachment; filename="p.png"')

    assert to_result(answer, method="get", action="op").artifacts[0].name == "p.png"


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('attachment; filename="a b.pdf"', "a b.pdf"),
        ("attachment; filename=a.pdf; size=3", "a.pdf"),
        ('attachment; filename="a\\"b.pdf"', "ab.pdf"),
        ("attachment; filename=\"x\"; filename*=UTF-8''%C3%BC.pdf", "ü.pdf"),
        ("attachment; filename*=nonsense''%FF.pdf", ""),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ('attachment; filename="..\\\\..\\\\boot.ini"', "boot.ini"),
        ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
        ('attachment; filename=".."', ""),
        ('attachment; filename="a\tb.txt"', "ab.txt"),
        ('attachment; filename=""', ""),
        ("inline", ""),
        ("attachment; filename=" + "x" * 500 + ".pdf", "x" * 116 + ".pdf"),
    ],
)
def test_a_file_name_leads_nowhere(disposition: str, name: str) -> None:
    assert file_name(disposition) == name


def test_a_projection_chooses_of_json() -> None:
    content = b'{"items": [{"id": 1, "secret": 2}]}'

    assert result(content, "application/json", projection="items[].id").structured == [1]


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b'{"a": 1}', "does not fit the configured projection"), (b"{", "is not complete JSON")],
)
def test_what_a_projection_does_not_fit_is_not_shown_instead(content: bytes, reason: str) -> None:
    with pytest.raises(ToolFailed, match=reason):
        result(content, "application/json", projection="sum(a)")


def test_a_head_has_a_status_and_headers() -> None:
    answer = response(b"", "text/plain", etag="1", set_cookie="sid=secret")

    found = to_result(answer, method="head", action="op")

    headers = {"etag": "1", "content-type": "text/plain"}
    assert found.structured == {"status": 200, "headers": headers}


def test_a_note_stands_behind_the_text() -> None:
    one = ToolResult(content="a", structured="a")

    assert with_note(one, "") is one
    assert with_note(one, "more").content == "a\nmore"


def test_what_is_not_text_has_none() -> None:
    assert body_text(response(b"\0", "image/png")) is None
