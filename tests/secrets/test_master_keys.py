"""Master keys: read from a text, and made once in a file of their owner's."""

import stat
from base64 import b64encode, urlsafe_b64encode
from pathlib import Path

import pytest

from pegboard.errors import ConfigError, Unavailable
from pegboard.secrets.master_keys import FILE_NAME, FileKeys, id_of, read_keys

ONE, TWO = b"\xfb" * 32, b"2" * 32


def test_keys_are_read_newest_first_in_both_alphabets() -> None:
    text = f"{b64encode(ONE).decode()}, {urlsafe_b64encode(TWO).decode()}\n"

    assert list(read_keys(text, "here").items()) == [(id_of(ONE), ONE), (id_of(TWO), TWO)]
    assert list(read_keys(urlsafe_b64encode(ONE).decode(), "here").values()) == [ONE]


@pytest.mark.parametrize(
    "text", ["", " ,", "short", b64encode(b"x" * 31).decode(), "é" * 44], ids=range(5)
)
def test_what_is_no_key_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ConfigError, match="openssl rand -base64 32") as caught:
        read_keys(text, "PEGBOARD_SECRET_KEY")

    assert not text.strip(" ,") or text not in str(caught.value)


def test_the_first_use_makes_a_file_that_its_owner_alone_reads(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    before = FileKeys(path).list()

    made = FileKeys(path).make()

    assert before == {}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [item.name for item in tmp_path.iterdir()] == [FILE_NAME]
    assert made == FileKeys(path).make() == FileKeys(path).list()
    assert len(made) == 1


def test_a_file_that_another_process_has_made_meanwhile_is_used(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    late = FileKeys(path)
    assert late.list() == {}
    path.write_bytes(b64encode(ONE))

    assert late.make() == {id_of(ONE): ONE}


def test_a_file_that_holds_no_key_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_text("not a key")

    with pytest.raises(Unavailable, match=r"master\.key"):
        FileKeys(path).make()
    assert path.read_text() == "not a key"
