"""Answers a server's requests: elicitation, sampling and roots."""

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import mcp_types as types
from mcp.client import ClientRequestContext

from pegboard.core.elicitation import Question, SampleMessage, SampleRequest
from pegboard.errors import ElicitationUnavailable, PegboardError
from pegboard.sources.mcp.content_blocks import parts_of_message, sample_content
from pegboard.sources.mcp.request_context import RequestContext

T = TypeVar("T")

_NOBODY = types.ErrorData(
    code=types.INVALID_REQUEST, message="The caller does not take such questions."
)
_MAX_WAITING = 8
_TOO_MANY = types.ErrorData(
    code=types.INVALID_REQUEST,
    message=f"{_MAX_WAITING} questions wait for an answer: ask again when one has come.",
)
_AMBIGUOUS = types.ErrorData(
    code=types.INVALID_REQUEST,
    message="Several calls are in flight, and the question does not say which one it belongs to.",
)


class ServerRequests:
    """Passes a server's requests to the caller whose call they belong to.

    Args:
        source: The name of the source.
        which: The call that a request belongs to; None if that is not known.
        roots: Folders that the server may work in.
    """

    def __init__(
        self, source: str, which: Callable[[], RequestContext | None], roots: Sequence[Path]
    ) -> None:
        self._source = source
        self._current_call = which
        self._roots = roots
        self._waiting = 0

    async def elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Ask the person behind the call."""
        del context
        call = self._current_call()
        if call is None or self._waiting >= _MAX_WAITING:
            return _AMBIGUOUS if call is None else _TOO_MANY
        if isinstance(params, types.ElicitRequestURLParams):
            question = Question(message=params.message, url=params.url)
        else:
            question = Question(message=params.message, schema=dict(params.requested_schema))
        try:
            answer = await self._wait_for_answer(call.ask(question))
        except ElicitationUnavailable as error:
            return types.ErrorData(code=types.INVALID_REQUEST, message=error.message)
        except PegboardError as error:
            return _error_data(error)
        if answer is None:
            return _NOBODY
        content = dict(answer.content) if answer.action == "accept" and not question.url else None
        return types.ElicitResult(action=answer.action, content=content)

    async def sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.ErrorData:
        """Ask the caller's model."""
        del context
        call = self._current_call()
        if call is None or self._waiting >= _MAX_WAITING:
            return _AMBIGUOUS if call is None else _TOO_MANY
        preferences = params.model_preferences
        request = SampleRequest(
            messages=tuple(
                SampleMessage(role=item.role, content=parts_of_message(self._source, item.content))
                for item in params.messages
            ),
            max_tokens=params.max_tokens,
            system_prompt=params.system_prompt or "",
            temperature=params.temperature,
            stop_sequences=tuple(params.stop_sequences or ()),
            preferences=preferences.model_dump(by_alias=True, mode="json", exclude_none=True)
            if preferences
            else {},
        )
        try:
            sample = await self._wait_for_answer(call.sample(request))
        except ElicitationUnavailable as error:
            return types.ErrorData(code=types.INVALID_REQUEST, message=error.message)
        except PegboardError as error:
            return _error_data(error)
        if sample is None:
            return _NOBODY
        return types.CreateMessageResult(
            role=sample.role,
            content=sample_content(sample.content),
            model=sample.model or "unknown",
            stop_reason=sample.stop_reason or None,
        )

    async def list_roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        """List the folders that the server may work in."""
        del context
        roots = [
            types.Root.model_validate({"uri": path.as_uri(), "name": path.name})
            for path in self._roots
        ]
        return types.ListRootsResult(roots=roots)

    async def _wait_for_answer(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for an answer, and count who waits: there is a limit for each server."""
        self._waiting += 1
        try:
            return await work
        finally:
            self._waiting -= 1


def _error_data(error: PegboardError) -> types.ErrorData:
    return types.ErrorData(code=types.INTERNAL_ERROR, message=error.message)
