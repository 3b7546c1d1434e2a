"""Passwords: argon2, in a thread, few at once."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argon2 import PasswordHasher

_CONCURRENT = 2
"""Hashes at once; each takes the memory of the setting, and a core for some 50 ms."""


class Passwords:
    """Hashes passwords and verifies them.

    Args:
        hasher: None uses the parameters of RFC 9106 for little memory.
        memory: MiB that one hash takes, where no hasher is given.
    """

    def __init__(self, hasher: "PasswordHasher | None" = None, *, memory: int = 64) -> None:
        self._given = hasher
        self._memory = memory
        self._limit = asyncio.Semaphore(_CONCURRENT)
        self._nobody = ""

    async def create_hash(self, password: str) -> str:
        """The hash of a new password."""
        async with self._limit:
            return await asyncio.to_thread(self._hasher().hash, _encode(password))

    async def verify(self, password: str, known: str) -> bool:
        """Whether a password has this hash; for an empty one, false after the same time."""
        async with self._limit:
            return await asyncio.to_thread(self._verify, password, known)

    def needs_new_hash(self, known: str) -> bool:
        """Whether a hash was made with weaker parameters than today's."""
        return self._hasher().check_needs_rehash(known)

    def _verify(self, password: str, known: str) -> bool:
        from argon2.exceptions import InvalidHashError, VerificationError

        hasher = self._hasher()
        self._nobody = self._nobody or hasher.hash("nobody's password")
        try:
            return hasher.verify(known or self._nobody, _encode(password)) and bool(known)
        except (VerificationError, InvalidHashError):
            return False

    def _hasher(self) -> "PasswordHasher":
        if self._given is None:
            from argon2 import PasswordHasher
            from argon2.profiles import RFC_9106_LOW_MEMORY

            parameters = replace(RFC_9106_LOW_MEMORY, memory_cost=self._memory * 1024)
            self._given = PasswordHasher.from_parameters(parameters)
        return self._given


def _encode(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")
