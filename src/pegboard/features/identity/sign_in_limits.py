"""Limits of failed sign-ins: for each account, each address, and both together."""

from collections import deque
from collections.abc import Callable

from pegboard.errors import RateLimited

WINDOW = 300.0
"""Seconds in which failures are counted."""

MAX_OF_BOTH = 10
MAX_OF_ADDRESS = 50
MAX_OF_ACCOUNT = 100
_MAX_COUNTED = 20_000


class SignInLimits:
    """Counts attempts; one that succeeds is taken back.

    An attempt counts before its password is verified, so that many at once are not many more.

    Args:
        now: A monotonic clock.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._attempts: dict[tuple[str, str], deque[float]] = {}

    def begin(self, login: str, address: str) -> None:
        """Count an attempt.

        Raises:
            RateLimited: There were too many; says when the next one is possible.
        """
        now = self._now()
        waits = [self._wait(place, most, now) for place, most in _places(login, address)]
        if any(waits):
            raise RateLimited(
                "Too many attempts to sign in: wait, then try again.", retry_after=max(waits)
            )
        for place, _ in _places(login, address):
            self._attempts.setdefault(place, deque()).append(now)
        while len(self._attempts) > _MAX_COUNTED:
            self._attempts.pop(next(iter(self._attempts)))

    def succeed(self, login: str, address: str) -> None:
        """Take back the attempts of this account and this address."""
        for place, _ in _places(login, address)[1:]:
            attempts = self._attempts.get(place)
            if attempts:
                attempts.pop()
        self._attempts.pop(_places(login, address)[0][0], None)

    def _wait(self, place: tuple[str, str], most: int, now: float) -> float:
        attempts = self._attempts.get(place)
        while attempts and attempts[0] <= now - WINDOW:
            attempts.popleft()
        if attempts is not None and not attempts:
            del self._attempts[place]
        return attempts[0] + WINDOW - now if attempts and len(attempts) >= most else 0.0


def _places(login: str, address: str) -> tuple[tuple[tuple[str, str], int], ...]:
    login = login.lower()
    return (
        ((login, address), MAX_OF_BOTH),
        (("", address), MAX_OF_ADDRESS),
        ((login, ""), MAX_OF_ACCOUNT),
    )
