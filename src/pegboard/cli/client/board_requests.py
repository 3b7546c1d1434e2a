"""`BoardRequests`: JSON requests to a server, and its errors as those of Pegboard."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pegboard.cli.client.call_results import read_object
from pegboard.cli.client.port import Answer
from pegboard.cli.client.problems import to_error
from pegboard.errors import Unavailable

if TYPE_CHECKING:
    import httpx2

_OK = 300


class BoardRequests:
    """Sends JSON requests to a server.

    Args:
        client: With the address and the token of the server.
        url: The address, for messages.
    """

    def __init__(self, client: "httpx2.AsyncClient", url: str) -> None:
        self._client = client
        self._url = url

    async def _get(self, path: str, **query: Any) -> Answer:
        return self._check(*await self._ask("GET", path, query=query))

    async def _post(self, path: str, body: Answer | None = None, *, key: str = "") -> Answer:
        return self._check(*await self._ask("POST", path, body=body, key=key))

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Answer | None = None,
        key: str = "",
    ) -> tuple[int, Answer]:
        """Send a request; returns the status, and the body if it is a JSON object."""
        response = await self._send(method, path, query=query, body=body, key=key)
        return response.status_code, read_object(response)

    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Answer | None = None,
        key: str = "",
    ) -> "httpx2.Response":
        import httpx2

        given = {name: value for name, value in (query or {}).items() if value not in (None, "")}
        headers = {"Idempotency-Key": key} if key else {}
        try:
            return await self._client.request(
                method, path, params=given, json=body, headers=headers
            )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._unreachable(error) from error

    def _check(self, status: int, answer: Answer) -> Answer:
        """The answer of a successful request; raises the error of any other."""
        if status < _OK and answer:
            return answer
        raise to_error(status, answer, url=self._url)

    def _unreachable(self, error: Exception) -> Unavailable:
        reason = str(error) or type(error).__name__
        return Unavailable(f"The server at {self._url} cannot be reached: {reason}")
