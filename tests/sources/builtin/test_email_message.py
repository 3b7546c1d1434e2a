"""Addresses, subjects and attachments of e-mails, and what could change their headers."""

import base64
from email import message_from_bytes
from email.headerregistry import Address
from email.policy import default
from typing import Any

import pytest

from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.email_message import (
    MAX_ATTACHED,
    AttachedFile,
    bytes_of,
    check_file_name,
    check_total,
    create_message,
    describe_refused,
    parse_address,
)

ADA = Address("Ada", addr_spec="ada@example.com")


def message(**changes: Any) -> Any:
    given: dict[str, Any] = {
        "sender": Address("Shop", addr_spec="shop@example.com"),
        "to": [ADA],
        "cc": [],
        "subject": "Hello",
        "text": "Text.\n",
        "html": "",
        "files": [],
        "at": 0.0,
    }
    return message_from_bytes(create_message(**(given | changes)).as_bytes(), policy=default)


@pytest.mark.parametrize(
    ("text", "name", "plain"),
    [
        ("ada@example.com", "", "ada@example.com"),
        ("Ada <ada@example.com>", "Ada", "ada@example.com"),
        ('"Lovelace, Ada" <ada@example.com>', "Lovelace, Ada", "ada@example.com"),
        ("ada+tag@mail.example.com", "", "ada+tag@mail.example.com"),
        ("root@localhost", "", "root@localhost"),
    ],
)
def test_an_address_is_read(text: str, name: str, plain: str) -> None:
    address = parse_address(text)

    assert (address.display_name, address.addr_spec) == (name, plain)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada",
        "@example.com",
        "ada@",
        "a@x.com, b@x.com",
        "a@x.com b@x.com",
        "a@x.com;b@x.com",
        "ada@example.com\r\nBcc: eve@evil.example",
        "ada@example.com\nBcc: eve@evil.example",
        "Ada\r\nBcc: eve@evil.example <ada@example.com>",
        "ada@example.com\0",
        "ada@example.com\u2028x",
        "<ada@example.com> SIZE=1",
        "a" * 500,
        "müller@example.com",
        "ada@exämple.com",
    ],
    ids=ascii,
)
def test_what_is_no_single_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="is not an e-mail address"):
        parse_address(text)


def test_a_message_has_its_headers_and_both_bodies() -> None:
    sent = message(cc=[Address(addr_spec="bob@example.com")], html="<p>Text</p>", subject="Grüße")

    assert sent["From"] == "Shop <shop@example.com>"
    assert sent["To"] == "Ada <ada@example.com>"
    assert sent["Cc"] == "bob@example.com"
    assert sent["Subject"] == "Grüße"
    assert sent["Date"] == "Thu, 01 Jan 1970 00:00:00 +0000"
    assert sent["Message-ID"].endswith("@example.com>")
    assert sent.get_body(("plain",)).get_content().split() == ["Text."]
    assert sent.get_body(("html",)).get_content().split() == ["<p>Text</p>"]


@pytest.mark.parametrize(
    "subject", ["a\r\nBcc: eve@evil.example", "a\nb", "a\rb", "a\0", "a\u2029"]
)
def test_a_subject_is_one_line(subject: str) -> None:
    with pytest.raises(InvalidRequest, match="'subject' is one line"):
        message(subject=subject)


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.pdf", "application/pdf"),
        ("a.png", "image/png"),
        ("Bericht für Ada.csv", "text/csv"),
        ("no_ending", "application/octet-stream"),
    ],
)
def test_a_file_goes_with_its_name_and_type(name: str, media_type: str) -> None:
    [part] = message(files=[AttachedFile(name=name, data=b"\0\xff")]).iter_attachments()

    assert (part.get_filename(), part.get_content_type()) == (name, media_type)
    assert part.get_payload(decode=True) == b"\0\xff"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\r\nX: 1", "a\0", " "])
def test_the_name_of_an_attachment_is_a_file_name(name: str) -> None:
    with pytest.raises(InvalidRequest, match="name of an attachment"):
        check_file_name(name)


@pytest.mark.parametrize(
    ("name", "content", "data"),
    [
        ("a.txt", "Hello", b"Hello"),
        ("a.csv", "YQ==", b"YQ=="),
        ("a", "Hello", b"Hello"),
        ("a.png", base64.b64encode(b"\x89PNG").decode(), b"\x89PNG"),
        ("a.json", {"a": [1]}, b'{\n "a": [\n  1\n ]\n}'),
        ("a.svg", "<svg/>", b"<svg/>"),
    ],
)
def test_the_content_of_an_attachment_becomes_bytes(name: str, content: Any, data: bytes) -> None:
    assert bytes_of(name, content) == data


def test_a_picture_is_not_text() -> None:
    with pytest.raises(InvalidRequest, match=r"'a\.png' is neither base64 nor the handle"):
        bytes_of("a.png", "Hello!")


def test_attachments_have_a_limit_together() -> None:
    half = AttachedFile(name="a", data=b"\0" * (MAX_ATTACHED // 2))
    check_total([half, half])

    with pytest.raises(InvalidRequest, match="The attachments have 10000001 bytes"):
        check_total([half, half, AttachedFile(name="b", data=b"\0")])


def test_refused_recipients_are_told_with_their_codes() -> None:
    assert describe_refused({"a@x": (550, b"no"), "b@x": (452, b"full")}) == "a@x (550); b@x (452)"
