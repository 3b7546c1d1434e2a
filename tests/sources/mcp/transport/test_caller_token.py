"""A refused token is renewed once; what a caller can do about an error is the error."""

from collections.abc import Sequence
from typing import Any, cast

import httpx2
import pytest

from pegboard.core.credential import Credential, Secret
from pegboard.errors import CredentialMissing, PegboardError
from pegboard.sources.mcp.transport.caller_token import CallerTokenTransport
from pegboard.sources.mcp.transport.guarded_http import GuardedTransport

ABOUT = Credential(id="c1", owner="ada", source="crm", name="work", kind="oauth2", created_at=0)


class Use:
    def __init__(self, *, renews: bool = True) -> None:
        self.about, self.renews, self.scopes = ABOUT, renews, list[str]()

    async def reveal(self) -> Secret:
        return Secret(access_token="old")

    async def renew(self, refused: Secret) -> Secret | None:
        assert refused.sent == "old"
        return Secret(access_token="new") if self.renews else None

    async def give_up(self) -> None:
        raise CredentialMissing("crm", "it has ended")

    async def extend(self, scopes: Sequence[str]) -> None:
        self.scopes.extend(scopes)
        raise CredentialMissing("crm", "more rights")


class Inner:
    """Answers with one status after the other, and keeps what was sent."""

    def __init__(self, *statuses: int, challenge: str = "") -> None:
        self.statuses, self.challenge = list(statuses), challenge
        self.sent: list[str] = []
        self.fault: PegboardError | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(request.headers["authorization"])
        headers = {"www-authenticate": self.challenge} if self.challenge else {}
        return httpx2.Response(self.statuses.pop(0), headers=headers)

    def respond(self, request: httpx2.Request, fault: PegboardError) -> httpx2.Response:
        del request
        self.fault = fault
        return httpx2.Response(502)


async def send(inner: Inner, use: Use) -> int:
    over = CallerTokenTransport(cast("GuardedTransport", cast("Any", inner)), lambda: use)
    response = await over.handle_async_request(httpx2.Request("POST", "https://crm.example/mcp"))
    return response.status_code


@pytest.mark.parametrize(
    ("statuses", "renews", "sent", "answer", "fault"),
    [
        ([200], True, ["Bearer old"], 200, ""),
        ([401, 200], True, ["Bearer old", "Bearer new"], 200, ""),
        ([401, 401], True, ["Bearer old", "Bearer new"], 502, "it has ended"),
        ([401], False, ["Bearer old"], 502, "it has ended"),
        ([403], True, ["Bearer old"], 403, ""),
    ],
    ids=["accepted", "renewed", "refused twice", "cannot be renewed", "forbidden"],
)
async def test_a_refused_token_is_renewed_once(
    statuses: list[int], renews: bool, sent: list[str], answer: int, fault: str
) -> None:
    inner = Inner(*statuses)

    assert await send(inner, Use(renews=renews)) == answer
    assert inner.sent == sent
    assert fault in str(inner.fault or "")
    assert (inner.fault is not None) is bool(fault)


async def test_a_lacking_scope_is_asked_for() -> None:
    inner, use = Inner(403, challenge='Bearer error="insufficient_scope", scope="a b"'), Use()

    assert await send(inner, use) == 502
    assert use.scopes == ["a", "b"]
