"""Checks whether a server still answers."""

import asyncio

import mcp_types as types
from mcp import MCPError
from mcp.client import Client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from pegboard.sources.mcp.request_context import RequestContext
from pegboard.sources.mcp.session.session import Session


async def ping(client: Client) -> None:
    """Return when the server answers.

    Raises:
        MCPError: The answer is an error, or the connection broke.
    """
    try:
        if client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            await client.session.send_ping()
        else:
            await client.session.send_discover(client.protocol_version)
    except MCPError as error:
        if error.code != types.METHOD_NOT_FOUND:  # that is an answer as well
            raise


async def ensure_alive(session: Session, *, seconds: float) -> bool:
    """Whether a session can be used after a request on it was given up without an answer.

    A silent server would leave every request unanswered, while a new session may work. A session
    with requests in flight is not pinged: the server may be busy with those.

    Args:
        session: Pinged at most once at a time.
        seconds: How long the server may take to answer.
    """
    if session.needs_ping and not session.in_flight:
        if session.pinging is None or session.pinging.done():
            session.pinging = asyncio.create_task(_check(session, seconds))
        await asyncio.shield(session.pinging)
    return not session.is_lost


async def _check(session: Session, seconds: float) -> None:
    context = RequestContext(None, timeout=seconds + 1)  # so that it is here that its time is up
    asking = asyncio.create_task(session.run(context, ping, counts=False))
    answered, _ = await asyncio.wait([asking], timeout=seconds)
    asking.cancel()
    await asyncio.wait([asking])
    if not answered:
        session.lose(f"it did not answer within {seconds:g} s")
        return
    asking.exception()  # an error is an answer; the next request reports a broken connection
    session.needs_ping = False
