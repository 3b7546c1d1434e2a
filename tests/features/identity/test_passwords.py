"""Passwords are hashed with argon2."""

from argon2 import PasswordHasher
from tests.features.identity.made import PASSWORD, cheap_passwords

from pegboard.features.identity.passwords import Passwords


async def test_a_password_is_verified_against_its_hash() -> None:
    passwords = cheap_passwords()
    known = await passwords.create_hash(PASSWORD)

    assert await passwords.verify(PASSWORD, known)
    assert not await passwords.verify(f"{PASSWORD}x", known)
    assert not await passwords.verify(PASSWORD, "no hash")
    assert not await passwords.verify("\ud800", known)


async def test_nobodys_password_is_never_right() -> None:
    assert not await cheap_passwords().verify("nobody's password", "")


async def test_the_hash_is_argon2id_with_the_parameters_of_rfc_9106() -> None:
    known = await Passwords().create_hash(PASSWORD)

    assert known.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


async def test_a_weaker_hash_is_made_anew() -> None:
    passwords = Passwords(PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    weak = await cheap_passwords().create_hash(PASSWORD)

    assert passwords.needs_new_hash(weak)
    assert not passwords.needs_new_hash(await passwords.create_hash(PASSWORD))
