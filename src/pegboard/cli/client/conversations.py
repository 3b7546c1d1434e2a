"""The conversations of a board that the command has opened, or of a server."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pegboard.cli.client.call_results import read_object
from pegboard.cli.client.port import Answer

if TYPE_CHECKING:
    import httpx2

    from pegboard.core.principal import Principal
    from pegboard.features.conversations import ChatEvent, Conversations
    from pegboard.features.runs.questions import QuestionAction

_OK = 300
_OPEN = ("queued", "working")
_NOT_ANSWERED = ("withdrawn", "steered")


class LocalConversations:
    """Implements `ConversationsClient` on a board of this process.

    Args:
        conversations: Those of the board.
        principal: The caller.
    """

    def __init__(self, conversations: "Conversations", principal: "Principal") -> None:
        self._conversations = conversations
        self._principal = principal

    async def list(self, *, text: str, limit: int, cursor: str) -> Answer:
        """One page of conversations, the last changed first."""
        from pegboard.core.ports.conversation_store import ConversationQuery
        from pegboard.features.conversations.views import view_conversation

        query = ConversationQuery(text=text, limit=limit, cursor=cursor)
        page = await self._conversations.list(query, principal=self._principal)
        found = [view_conversation(item) for item in page.conversations]
        return {"conversations": found, "next_cursor": page.next_cursor or None}

    async def list_files(self, conversation: str) -> Answer:
        """The files of a conversation."""
        from pegboard.features.conversations.views import view_files

        workspaces = self._conversations.workspaces
        return view_files(await workspaces.list(conversation, principal=self._principal))

    async def follow_last(self, conversation: str, *, if_open: bool) -> "AsyncGenerator[ChatEvent]":
        """The events of the last answer; none where `if_open` and it has ended."""
        service, caller = self._conversations, self._principal
        _, exchanges = await service.get(conversation, principal=caller)
        answered = [item for item in exchanges if item.state not in _NOT_ANSWERED]
        last = max(answered, key=lambda item: item.number, default=None)
        if last is None or (if_open and last.state not in _OPEN):
            return
        async for event in service.follow(conversation, until=last.id, principal=caller):
            yield event

    async def answer_question(
        self, conversation: str, question: str, action: str, content: dict[str, Any] | None = None
    ) -> str:
        """Answer what a tool asks; the state of the question then."""
        chosen: QuestionAction = "accept" if action == "accept" else "decline"
        return await self._conversations.questions.answer(
            conversation, question, chosen, content, principal=self._principal
        )

    async def stop(self, conversation: str) -> None:
        """Withdraw what is queued, and stop the answer in progress."""
        await self._conversations.stop(conversation, principal=self._principal)

    async def withdraw(self, conversation: str, message: str) -> None:
        """Withdraw a message that waits for the answer before it."""
        await self._conversations.withdraw(conversation, message, principal=self._principal)

    async def read_file(self, conversation: str, path: str) -> AsyncGenerator[bytes]:
        """The content of a file, piece by piece."""
        workspaces = self._conversations.workspaces
        found = await workspaces.open(conversation, path, principal=self._principal)
        async for chunk in found.chunks:
            yield chunk


class RemoteConversations:
    """Implements `ConversationsClient` over the HTTP API.

    Args:
        client: Sends the requests.
        ask: Sends a request; returns the status and the answer.
        check: Returns the answer, or raises the error that it describes.
        fail: Makes the error of a server that cannot be reached.
        stream: Reads a stream of events: id, kind and data of each.
    """

    def __init__(
        self,
        client: "httpx2.AsyncClient",
        ask: Callable[..., Awaitable[tuple[int, Answer]]],
        check: Callable[[int, Answer], Answer],
        fail: Callable[[Exception], Exception],
        stream: Callable[..., AsyncGenerator[tuple[str, str, Answer]]],
    ) -> None:
        self._client = client
        self._ask = ask
        self._check = check
        self._fail = fail
        self._stream = stream

    async def list(self, *, text: str, limit: int, cursor: str) -> Answer:
        """One page of conversations, the last changed first."""
        query: dict[str, Any] = {"text": text, "limit": limit, "cursor": cursor}
        return self._check(*await self._ask("GET", "/conversations", query=query))

    async def list_files(self, conversation: str) -> Answer:
        """The files of a conversation."""
        path = f"/conversations/{quote(conversation, safe='')}/files"
        return self._check(*await self._ask("GET", path))

    async def follow_last(self, conversation: str, *, if_open: bool) -> "AsyncGenerator[ChatEvent]":
        """The events of the last answer; none where `if_open` and it has ended."""
        from pegboard.features.conversations import ChatEvent

        path = f"/conversations/{quote(conversation, safe='')}"
        found = self._check(*await self._ask("GET", path))["exchanges"]
        answered = [item for item in found if item["state"] not in _NOT_ANSWERED]
        last = max(answered, key=lambda item: int(item["position"].split("-")[0]), default=None)
        if last is None or (if_open and last["state"] not in _OPEN):
            return
        after = {"after": last["position"]}
        sent = self._stream("GET", f"{path}/events", params=after, timeout=None)
        async with aclosing(sent) as events:
            async for _, kind, data in events:
                yield ChatEvent(event=kind, data=data)
                if kind == "done" and data["message"] == last["id"]:
                    return

    async def answer_question(
        self, conversation: str, question: str, action: str, content: dict[str, Any] | None = None
    ) -> str:
        """Answer what a tool asks; the state of the question then."""
        path = f"/conversations/{quote(conversation, safe='')}/questions/{quote(question, safe='')}"
        body: dict[str, Any] = {"action": action} | (
            {} if content is None else {"content": content}
        )
        return str(self._check(*await self._ask("POST", path, body=body))["state"])

    async def stop(self, conversation: str) -> None:
        """Withdraw what is queued, and stop the answer in progress."""
        path = f"/conversations/{quote(conversation, safe='')}/stop"
        self._check(*await self._ask("POST", path))

    async def withdraw(self, conversation: str, message: str) -> None:
        """Withdraw a message that waits for the answer before it."""
        path = f"/conversations/{quote(conversation, safe='')}/queue/{quote(message, safe='')}"
        self._check(*await self._ask("DELETE", path))

    async def read_file(self, conversation: str, path: str) -> AsyncGenerator[bytes]:
        """The content of a file, piece by piece."""
        import httpx2

        address = f"/conversations/{quote(conversation, safe='')}/files/{quote(path)}"
        try:
            async with self._client.stream("GET", address) as response:
                if response.status_code >= _OK:
                    await response.aread()
                    self._check(response.status_code, read_object(response))
                async for chunk in response.aiter_bytes():
                    yield chunk
        except httpx2.HTTPError as error:
            raise self._fail(error) from error
