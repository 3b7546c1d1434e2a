"""Values are encrypted, bound to their context, and follow a new master key."""

import pytest
from msgspec import structs

from pegboard.errors import Unavailable
from pegboard.secrets import EnvelopeSealer, GivenKeys, MemoryKeys
from pegboard.secrets.master_keys import id_of

OLD, NEW = b"o" * 32, b"n" * 32
PLAIN = b"a token that nobody may see"


def sealer(*keys: bytes) -> EnvelopeSealer:
    return EnvelopeSealer(GivenKeys({id_of(key): key for key in keys}, hint="no key"))


def test_a_value_is_encrypted_differently_each_time_and_decrypted() -> None:
    board = EnvelopeSealer(MemoryKeys())

    one, other = (board.seal(PLAIN, context="cred_1/ada") for _ in range(2))

    assert PLAIN not in one.value + one.data_key
    assert {one.value, one.data_key}.isdisjoint({other.value, other.data_key})
    assert board.open(one, context="cred_1/ada") == PLAIN


def test_a_value_opens_in_its_own_context_alone() -> None:
    board = EnvelopeSealer(MemoryKeys())
    sealed = board.seal(PLAIN, context="cred_1/ada")

    with pytest.raises(Unavailable, match="changed or moved"):
        board.open(sealed, context="cred_1/bob")


@pytest.mark.parametrize("field", ["value", "data_key"])
def test_a_changed_value_is_refused(field: str) -> None:
    board = EnvelopeSealer(MemoryKeys())
    sealed = board.seal(PLAIN, context="c")
    part = getattr(sealed, field)

    for changed in (part[:-1] + bytes([part[-1] ^ 1]), part[:5], b""):
        with pytest.raises(Unavailable, match="changed or moved"):
            board.open(structs.replace(sealed, **{field: changed}), context="c")


def test_the_newest_key_seals_and_older_ones_still_open() -> None:
    sealed = sealer(OLD).seal(PLAIN, context="c")
    rotating = sealer(NEW, OLD)

    resealed = rotating.reseal(sealed, context="c")

    assert rotating.open(sealed, context="c") == PLAIN
    assert resealed is not None
    assert resealed.value == sealed.value
    assert sealer(NEW).open(resealed, context="c") == PLAIN
    assert rotating.reseal(resealed, context="c") is None


def test_without_the_key_of_a_value_the_message_says_what_to_add() -> None:
    sealed = sealer(OLD).seal(PLAIN, context="c")

    with pytest.raises(Unavailable, match="PEGBOARD_SECRET_KEY"):
        sealer(NEW).open(sealed, context="c")


def test_without_any_key_nothing_is_sealed() -> None:
    with pytest.raises(Unavailable, match="no key"):
        sealer().seal(PLAIN, context="c")
