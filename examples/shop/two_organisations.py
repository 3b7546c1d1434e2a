"""One server, two organisations: one question, two answers, and a key that is revoked.

Bob connects the orders of his shop and shares them with his organisation; Eve is of another one. A
recording stands in for the model. `make demo` ends with it; `python
examples/shop/two_organisations.py` runs it alone.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pegboard import LOCAL, Principal
from pegboard.core.model_messages import ModelRequest
from pegboard.core.ports.authenticator import AuthenticatedCaller, SentCredentials
from pegboard.errors import ToolNotFound
from pegboard.features.conversations import NewMessage
from pegboard.features.identity.accounts import LinkRequest, NewAccount
from pegboard.features.resources import NewResource, ResourceChange
from pegboard.runtime import Pegboard, Settings
from pegboard.testing import ScriptedModel, Turn

BOARD = 'sources: []\nnetwork: {allow_hosts: ["127.0.0.1"]}\n'
QUESTION = "How many orders are open?"
TOOL = "bob--orders__list_orders"
PASSWORD = "correct horse battery staple"


def play(request: ModelRequest) -> Turn:
    """Look the orders up with the tool that is there, or say that there is none."""
    orders = [tool.name for tool in request.tools if tool.name.endswith("list_orders")]
    last = request.messages[-1].text
    if last != QUESTION:
        return Turn(text=f"{len(json.loads(last))} orders are open.")
    if orders:
        return Turn(calls=((orders[0], {}),))
    return Turn(text="I have nothing that knows your orders.")


async def ask_as_two() -> None:
    """Ask as both, say why, and end a key."""
    async with _orders() as address, _board() as board:
        ada = await _join(board, LinkRequest(), LOCAL, "ada", founds="vinyl")
        await board.identity.organisations.create("tape", principal=ada)
        ada = await _sign_in(board, "ada")  # who administers both now
        bob = await _invite(board, ada, "bob", "vinyl")
        eve = await _invite(board, ada, "eve", "tape")

        await _share_orders(board, bob, address)
        for who, principal in (("Bob of vinyl", bob), ("Eve of tape", eve)):
            print(f"  {who} asks: {QUESTION}")
            print(f"    {await _ask(board, principal)}")
            print(f"    {TOOL}: {_explain(board, principal)}")

        made = await board.identity.keys.make("nightly", principal=bob)
        print(f"  Bob's key: {await _try_key(board, made.key)}")
        await board.identity.keys.revoke(made.stored.id, principal=bob)
        print(f"  Bob's key, revoked: {await _try_key(board, made.key)}")


async def _share_orders(board: Pegboard, bob: Principal, address: str) -> None:
    action = {"name": "list_orders", "path": "/orders", "description": "List the open orders."}
    config = {"base_url": address, "actions": [action]}
    new = NewResource(kind="connector", source_kind="openapi", name="orders", config=config)
    made = await board.resources.add(new, principal=bob)
    shared = ResourceChange(visibility="organisation", organisation="vinyl")
    await board.resources.change(made.resource.id, shared, principal=bob)


async def _ask(board: Pegboard, principal: Principal) -> str:
    sent = await board.conversations.send(NewMessage(text=QUESTION), principal=principal)
    events = board.conversations.follow(sent.conversation, until=sent.id, principal=principal)
    return "".join([str(event.data["text"]) async for event in events if event.event == "done"])


def _explain(board: Pegboard, principal: Principal) -> str:
    try:
        answer = board.registry.explain(TOOL, principal=principal).call
    except ToolNotFound as error:
        return str(error)
    return f"{answer.verdict}, because {answer.reason}"


async def _try_key(board: Pegboard, key: str) -> str:
    found = await board.identity.callers.identify(SentCredentials(bearer=key))
    return "accepted" if isinstance(found, AuthenticatedCaller) else "refused"


async def _invite(board: Pegboard, ada: Principal, handle: str, organisation: str) -> Principal:
    request = LinkRequest(organisation=organisation, roles=("editor",))
    return await _join(board, request, ada, handle)


async def _join(
    board: Pegboard, request: LinkRequest, inviter: Principal, handle: str, *, founds: str = ""
) -> Principal:
    link = await board.identity.accounts.make_link(request, principal=inviter)
    account = NewAccount(link=link.token, handle=handle, password=PASSWORD, organisation=founds)
    await board.identity.accounts.join(account)
    return await _sign_in(board, handle)


async def _sign_in(board: Pegboard, handle: str) -> Principal:
    session = await board.identity.sign_ins.sign_in(handle, PASSWORD, address="127.0.0.1")
    caller = await board.identity.callers.identify(SentCredentials(cookies=(session.cookie,)))
    assert isinstance(caller, AuthenticatedCaller)
    return caller.principal


@asynccontextmanager
async def _board() -> AsyncGenerator[Pegboard]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "board.yaml"
        path.write_text(BOARD, encoding="utf-8")
        settings = Settings(password_memory=8)
        async with Pegboard(path, model=ScriptedModel(*[play] * 3), settings=settings) as board:
            yield board


@asynccontextmanager
async def _orders() -> AsyncGenerator[str]:
    """The API of a shop, on a free port of this machine."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = json.dumps([{"id": 7}, {"id": 9}]).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


if __name__ == "__main__":
    asyncio.run(ask_as_two())
