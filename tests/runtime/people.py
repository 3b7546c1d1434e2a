"""Accounts on a whole board, for tests that need callers who have one."""

from pegboard.core.ports.authenticator import AuthenticatedCaller, SentCredentials
from pegboard.core.principal import LOCAL, Principal
from pegboard.features.identity.accounts import LinkRequest, NewAccount
from pegboard.runtime import Pegboard

PASSWORD = "correct horse"


async def found(board: Pegboard) -> Principal:
    """Ada, the operator, who founds Acme."""
    link = await board.identity.accounts.make_link(LinkRequest(), principal=LOCAL)
    return await _join(board, link.token, "ada", organisation="acme")


async def invite(board: Pegboard, ada: Principal, handle: str, *roles: str) -> Principal:
    """A member of Acme with these roles."""
    request = LinkRequest(organisation="acme", roles=roles)
    link = await board.identity.accounts.make_link(request, principal=ada)
    return await _join(board, link.token, handle)


async def _join(board: Pegboard, link: str, handle: str, *, organisation: str = "") -> Principal:
    await board.identity.accounts.join(
        NewAccount(link=link, handle=handle, password=PASSWORD, organisation=organisation)
    )
    session = await board.identity.sign_ins.sign_in(handle, PASSWORD, address="192.0.2.1")
    caller = await board.identity.callers.identify(SentCredentials(cookies=(session.cookie,)))
    assert isinstance(caller, AuthenticatedCaller)
    return caller.principal
