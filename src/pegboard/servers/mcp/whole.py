"""The body of a request, read once and handed on."""

from starlette.types import Message, Receive


async def buffer_body(receive: Receive) -> tuple[bytes | None, Receive]:
    """The body, whose length and time the server bounds, and a way to read it again.

    The body is None when its client has left in the middle.
    """
    pieces: list[bytes] = []
    is_whole = False
    message: Message = {"type": "http.request"}
    while message["type"] == "http.request" and not is_whole:
        message = await receive()
        pieces.append(message.get("body", b""))
        is_whole = not message.get("more_body", False)
    body = b"".join(pieces)
    gone = message["type"] != "http.request"
    waiting = [message if gone else {"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return None if gone else body, again
