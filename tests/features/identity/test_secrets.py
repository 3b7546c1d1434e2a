"""The form of keys, and how little is stored of a secret."""

import re

import pytest

from pegboard.features.identity.secrets import (
    create_key,
    create_secret,
    csrf_of,
    digest_of,
    is_key,
)


def test_a_key_has_a_prefix_and_a_checksum_that_scanners_know() -> None:
    key = create_key()

    assert re.fullmatch(r"pegboard_[0-9A-Za-z]{38}", key)
    assert is_key(key)
    assert create_key() != key


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda key: key[:-1], id="shorter"),
        pytest.param(lambda key: key + "0", id="longer"),
        pytest.param(lambda key: key.swapcase(), id="other letters"),
        pytest.param(lambda key: key.replace("pegboard_", "ghp_"), id="another prefix"),
        pytest.param(
            lambda key: f"{key[:12]}{'A' if key[12] != 'A' else 'B'}{key[13:]}", id="typo"
        ),
        pytest.param(lambda _key: "", id="nothing"),
    ],
)
def test_what_is_no_key_is_told_without_a_look_at_the_store(change) -> None:
    assert not is_key(change(create_key()))


def test_of_a_secret_only_the_digest_is_stored() -> None:
    secret = create_secret()

    assert re.fullmatch(r"[0-9a-f]{64}", digest_of(secret))
    assert digest_of(secret) != csrf_of(secret)
    assert secret not in digest_of(secret)


@pytest.mark.parametrize("text", ["\ud800", "\u00e9" * 43, "x" * 101])
def test_what_cannot_be_a_secret_has_no_digest(text: str) -> None:
    assert digest_of(text) == ""
