"""Elicitation and sampling: questions of tools as MCP requests, and asking over a session."""

import secrets
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

from pegboard.core.elicitation import Answer, Question, Sample, SampleMessage, SampleRequest
from pegboard.core.result import Part, TextPart
from pegboard.errors import ElicitationUnavailable, ToolFailed, Unavailable
from pegboard.schemas.validator import compile_schema
from pegboard.servers.mcp.content_blocks import block_of, parts_of
from pegboard.servers.mcp.selection import WHOLE_BOARD

Request = ServerRequestContext[Any, Any]
_GONE = frozenset({types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT})


class ClientAbilities:
    """What a client declares that it can be asked.

    Attributes:
        missed: Capabilities that a tool needed and the client lacks.
    """

    def __init__(self, declared: types.ClientCapabilities | None) -> None:
        elicitation = declared.elicitation if declared is not None else None
        self._forms = elicitation is not None and (
            elicitation.form is not None or elicitation.url is None
        )
        self._pages = elicitation is not None and elicitation.url is not None
        self._samples = declared is not None and declared.sampling is not None
        self.missed: dict[str, Any] = {}

    @property
    def any(self) -> bool:
        """Whether the client can be asked anything."""
        return self._forms or self._pages or self._samples

    @property
    def takes_questions(self) -> bool:
        """Whether a person can be asked."""
        if not (self._forms or self._pages):
            self.missed["elicitation"] = {}
        return self._forms or self._pages

    @property
    def takes_samples(self) -> bool:
        """Whether the client's model can be asked."""
        if not self._samples:
            self.missed["sampling"] = {}
        return self._samples

    def check(self, question: Question) -> None:
        """Refuse a kind of question that this client does not support.

        Raises:
            ElicitationUnavailable: The client supports only forms, or only pages.
        """
        if question.url and not self._pages:
            self.missed["elicitation"] = {"url": {}}
            raise ElicitationUnavailable("The caller's client cannot send a person to a page.")
        if not question.url and not self._forms:
            self.missed["elicitation"] = {"form": {}}
            raise ElicitationUnavailable("The caller's client cannot show a form.")


class SessionElicitor:
    """Asks over the connection, as servers can up to 2025-11-25."""

    def __init__(self, request: Request, abilities: ClientAbilities) -> None:
        self._request = request
        self._abilities = abilities

    @property
    def takes_questions(self) -> bool:
        """Whether a person can be asked."""
        return self._abilities.takes_questions and self._request.session.can_send_request

    @property
    def takes_samples(self) -> bool:
        """Whether the client's model can be asked."""
        return self._abilities.takes_samples and self._request.session.can_send_request

    async def ask(self, question: Question) -> Answer:
        """Ask the person and wait."""
        self._abilities.check(question)
        return answer_of(question, await self._send(elicitation(question), types.ElicitResult))

    async def sample(self, request: SampleRequest) -> Sample:
        """Ask the client's model and wait."""
        return sample_of(await self._send(sampling(request), types.CreateMessageResult))

    async def _send(self, message: Any, kind: Any) -> Any:
        related = ServerMessageMetadata(related_request_id=self._request.request_id)
        try:
            return await self._request.session.send_request(message, kind, metadata=related)
        except NoBackChannelError as error:
            raise ElicitationUnavailable(
                "The caller's connection does not support questions."
            ) from error
        except MCPError as error:
            if error.code in _GONE:
                raise Unavailable("The caller disconnected before it answered.") from error
            raise ToolFailed("The caller refused to answer.") from error
        except ValidationError as error:
            raise ToolFailed("The caller's answer is invalid.") from error


def elicitation(question: Question) -> types.ElicitRequest:
    """The question as an MCP request."""
    if question.url:
        params: Any = types.ElicitRequestURLParams(
            message=question.message, url=question.url, elicitation_id=secrets.token_hex(8)
        )
    else:
        form: dict[str, Any] = {"type": "object", "properties": {}, **question.schema}
        params = types.ElicitRequestFormParams(message=question.message, requested_schema=form)
    return types.ElicitRequest(params=params)


def sampling(request: SampleRequest) -> types.CreateMessageRequest:
    """The sampling request as an MCP request."""
    preferences = dict(request.preferences)
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams.model_validate(
            {
                "messages": [_message(item) for item in request.messages],
                "maxTokens": request.max_tokens,
                "systemPrompt": request.system_prompt or None,
                "temperature": request.temperature,
                "stopSequences": list(request.stop_sequences) or None,
                "modelPreferences": preferences or None,
            }
        )
    )


def answer_of(question: Question, result: types.ElicitResult) -> Answer:
    """The person's answer.

    Raises:
        ToolFailed: The answer does not fit the question's schema.
    """
    content: dict[str, Any] = dict(result.content or {})
    if result.action != "accept":
        return Answer(action=result.action)
    if question.schema and not compile_schema("question", question.schema).is_valid(content):
        raise ToolFailed("The caller's answer does not fit the question.")
    return Answer(action="accept", content=content)


def sample_of(result: types.CreateMessageResult) -> Sample:
    """The answer of the client's model."""
    return Sample(
        content=parts_of([result.content]),
        role=result.role,
        model=result.model,
        stop_reason=result.stop_reason or "",
    )


def _message(message: SampleMessage) -> dict[str, Any]:
    blocks = [block_of(_sayable(item), WHOLE_BOARD) for item in message.content]
    return {"role": message.role, "content": blocks[0] if len(blocks) == 1 else blocks}


def _sayable(item: Part) -> Part:
    """A part as a sampling message accepts it: text, image or audio; a resource becomes text."""
    text = getattr(item, "uri", None)
    if text is None:
        return item
    return TextPart(text=getattr(item, "text", None) or f"[{text}]")
