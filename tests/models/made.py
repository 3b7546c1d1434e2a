"""A server on loopback that speaks the chat completions API of OpenAI, with streams."""

import asyncio
import base64
import json
import re
import threading
from array import array
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

Chunk = dict[str, Any]
USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 5,
    "total_tokens": 25,
    "prompt_tokens_details": {"cached_tokens": 12},
}


def text(*pieces: str) -> list[Chunk]:
    """The chunks of an answer in text."""
    chunks: list[Chunk] = [{"delta": {"role": "assistant", "content": ""}}]
    chunks += [{"delta": {"content": piece}} for piece in pieces]
    return [*chunks, {"delta": {}, "finish_reason": "stop"}]


def call(name: str, *arguments: str) -> list[Chunk]:
    """The chunks of a call, its arguments in pieces."""
    start = {"index": 0, "id": "call_1", "type": "function"}
    chunks: list[Chunk] = [
        {"delta": {"tool_calls": [{**start, "function": {"name": name, "arguments": ""}}]}}
    ]
    chunks += [
        {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}}
        for piece in arguments
    ]
    return [*chunks, {"delta": {}, "finish_reason": "tool_calls"}]


class Provider:
    """What the server answers, one after another, and what it was asked.

    Attributes:
        answers: Chunks, or a status with a body; `cut` breaks the connection, and
            `end` ends the stream like one that is complete.
        models: What `GET /models` lists.
        redirect: Where requests are sent instead; empty to answer them.
    """

    def __init__(self) -> None:
        self.answers: list[list[Chunk] | tuple[int, Any]] = []
        self.models: list[str] = ["tiny-1"]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.url = self.redirect = ""

    async def complete(self, request: Request) -> Response:
        self.requests.append(json.loads(await request.body()))
        self.headers.append(dict(request.headers))
        if self.redirect:
            return RedirectResponse(self.redirect, status_code=307)
        answer = self.answers.pop(0)
        if isinstance(answer, tuple):
            status, body = answer
            return JSONResponse(body, status_code=status, headers={"retry-after-ms": "1"})
        return StreamingResponse(self._stream(answer), media_type="text/event-stream")

    async def embed(self, request: Request) -> Response:
        """Vectors of the lengths of the texts."""
        asked = json.loads(await request.body())
        self.requests.append(asked)
        self.headers.append(dict(request.headers))
        if self.answers:
            status, body = self.answers.pop(0)
            return JSONResponse(body, status_code=status)  # pyright: ignore[reportArgumentType]  # only refusals are scripted
        data = [
            {"object": "embedding", "index": index, "embedding": _vector(text, asked)}
            for index, text in enumerate(asked["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        head = {"object": "list", "model": asked["model"]}
        return JSONResponse({**head, "data": data, "usage": usage})

    async def rerank(self, request: Request) -> Response:
        """Rate texts by the share of the question's words that they have, the best first."""
        asked = json.loads(await request.body())
        self.requests.append(asked)
        self.headers.append(dict(request.headers))
        if self.redirect:
            return RedirectResponse(self.redirect, status_code=307)
        if self.answers:
            status, body = self.answers.pop(0)
            return JSONResponse(body, status_code=status)  # pyright: ignore[reportArgumentType]  # no streams are scripted
        is_tei = "texts" in asked
        wanted = _words(asked["query"])
        rated = [
            (len(wanted & _words(text)) / len(wanted), index)
            for index, text in enumerate(asked["texts" if is_tei else "documents"])
        ]
        rated.sort(reverse=True)
        field = "score" if is_tei else "relevance_score"
        results = [{"index": index, field: score} for score, index in rated]
        if is_tei:
            return JSONResponse(results)
        return JSONResponse({"results": results, "usage": {"total_tokens": 11}})

    async def refuse(self, request: Request) -> Response:
        """Refuse a request of another API."""
        self.requests.append(json.loads(await request.body()))
        error = {"type": "invalid_request_error", "message": "only recorded"}
        return JSONResponse({"type": "error", "error": error}, status_code=400)

    async def list_models(self, _request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": name} for name in self.models]})

    async def _stream(self, chunks: list[Chunk]) -> AsyncGenerator[str]:
        for chunk in chunks:
            if "cut" in chunk:
                raise ConnectionError("cut on purpose")
            if "end" in chunk:
                return
            yield _event(choices=[{"index": 0, "finish_reason": None, **chunk}])
        yield _event(choices=[], usage=USAGE)
        yield "data: [DONE]\n\n"


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _vector(text: str, asked: dict[str, Any]) -> list[float] | str:
    vector = array("f", [len(text), 0.5])
    if asked.get("encoding_format") == "base64":
        return base64.b64encode(vector.tobytes()).decode()
    return vector.tolist()


def _event(**data: Any) -> str:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "tiny-1"}
    return f"data: {json.dumps(head | data)}\n\n"


@asynccontextmanager
async def a_provider() -> AsyncGenerator[Provider]:
    """A server that listens meanwhile."""
    provider = Provider()
    app = Starlette(
        routes=[
            Route("/v1/chat/completions", provider.complete, methods=["POST"]),
            Route("/v1/embeddings", provider.embed, methods=["POST"]),
            Route("/v1/rerank", provider.rerank, methods=["POST"]),
            Route("/v1/messages", provider.refuse, methods=["POST"]),
            Route("/v1/models", provider.list_models),
        ]
    )
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn says it in no other way
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    provider.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield provider
    finally:
        server.should_exit = True
        await serving


@contextmanager
def provider_in_thread() -> Generator[Provider]:
    """The server in a thread of its own, for tests that are not async."""
    opened: Future[Provider] = Future()
    ending: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        over = asyncio.Event()
        async with a_provider() as provider:
            ending.set_result((asyncio.get_running_loop(), over))
            opened.set_result(provider)
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        yield opened.result(30)
    finally:
        loop, over = ending.result(30)
        loop.call_soon_threadsafe(over.set)
        thread.join(30)
