"""Cookies of OAuth flows: one for each of the last flows of a browser, for its callback alone."""

from hashlib import sha256
from urllib.parse import urlsplit

from fastapi import Request, Response

_PLACES = 4


class FlowCookies:
    """The cookies of one callback.

    A browser may have begun several flows, as in two tabs: each has a cookie of its own, which is
    found by the `state` that the other server repeats. There are four at most, since proxies refuse
    long headers: a further flow takes the place of an earlier one.

    Args:
        prefix: What the names of the cookies begin with.
        callback: The path of the callback, without that of the public address.
        seconds: How long a flow may take.
    """

    def __init__(self, prefix: str, callback: str, *, seconds: float) -> None:
        self._prefix = prefix
        self._callback = callback
        self._seconds = int(seconds)

    def put(self, response: Response, value: str, *, state: str, public_url: str) -> None:
        """Let the browser keep what belongs to a flow until it ends."""
        value = f"{_digest(state)}.{value}"
        self._set(response, value, state, public_url, seconds=self._seconds)

    def read(self, request: Request) -> str:
        """What belongs to the flow that a request ends; empty if this browser has begun none."""
        state = _state_of(request)
        digest, _, value = request.cookies.get(self._name(state), "").partition(".")
        return value if digest == _digest(state) else ""

    def remove(self, request: Request, response: Response, *, public_url: str) -> None:
        """Let the browser forget the flow that a request has ended; others go on."""
        if self.read(request):
            self._set(response, "", _state_of(request), public_url, seconds=0)

    def _set(
        self, response: Response, value: str, state: str, public_url: str, *, seconds: int
    ) -> None:
        public = urlsplit(public_url)
        response.set_cookie(
            self._name(state),
            value,
            max_age=seconds,
            path=f"{public.path.rstrip('/')}{self._callback}",
            secure=public.scheme == "https",
            httponly=True,
            samesite="lax",
        )

    def _name(self, state: str) -> str:
        return f"{self._prefix}_{int(_digest(state), 16) % _PLACES}"


def _digest(state: str) -> str:
    return sha256(state.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _state_of(request: Request) -> str:
    return request.query_params.get("state", "")
