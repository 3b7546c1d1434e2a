"""The `Completions` service: an agent answers messages, without a conversation that is stored.

Each answer is a run, with its events, calls and approvals. The messages come with the request;
those of an earlier answer can be read from its run.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import convert, structs, to_builtins

from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.knowledge import Citation
from pegboard.core.model_messages import (
    AssistantMessage,
    Finish,
    Message,
    ModelSettings,
    ModelUsage,
    UserMessage,
    read_message,
    to_dict,
)
from pegboard.core.ports.knowledge.bases import AnswerCiter
from pegboard.core.principal import Principal
from pegboard.core.tool import JsonSchema
from pegboard.engines import place_event
from pegboard.errors import InvalidRequest, RunNotFound
from pegboard.features.runs import Runs, RunView

COMPLETION = "completion"
"""The name of the graphs that answer."""
_PARAMS = {
    "type": "object",
    "properties": {"message": {"type": "string"}, "messages": {"type": "array"}},
    "required": ["message", "messages"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRequest:
    """What is to be answered.

    Attributes:
        messages: The conversation; the last one is of a person.
        agent: The name of the agent; empty for the generic assistant.
        settings: How its model writes answers, where those of the agent do not fit.
        output_schema: JSON Schema of the answer, which is then a JSON object; None for text.
    """

    messages: Sequence[Message]
    agent: str = ""
    settings: ModelSettings = field(default_factory=ModelSettings)
    output_schema: JsonSchema | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionText:
    """More text of the answer.

    Attributes:
        turn: The turn of the model; texts of one turn belong together.
    """

    text: str
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionCall:
    """A call of a tool that has begun, or has ended.

    Attributes:
        arguments: As the model wrote them: JSON data, or text that is none.
        text: The beginning of the result, or the error; None while it runs.
    """

    id: str
    tool: str
    arguments: Any = None
    text: str | None = None
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionEnd:
    """How an answer has ended.

    Attributes:
        text: The answer.
        messages: What it adds to the conversation.
        finish: Why the answer ended; `length` where it was cut at its limit of tokens.
        error: The safe part of the error that made it fail; None otherwise.
        citations: What the numbers of the text stand for; each was checked.
    """

    state: NodeState
    text: str = ""
    messages: Sequence[Message] = ()
    usage: ModelUsage = field(default_factory=ModelUsage)
    finish: Finish = "stop"
    error: Mapping[str, Any] | None = None
    citations: Sequence[Citation] = ()


CompletionEvent = CompletionText | CompletionCall | CompletionEnd


class Completions:
    """Answers of agents to messages that a client keeps itself.

    Args:
        runs: Starts and shows the runs that answer.
        citer: Checks what answers cite; None where there is nothing to cite.
    """

    def __init__(self, runs: Runs, citer: AnswerCiter | None = None) -> None:
        self._runs = runs
        self._citer = citer

    async def start(
        self, request: CompletionRequest, *, principal: Principal, key: str = ""
    ) -> str:
        """Start an answer; the id of its run.

        Args:
            request: What is to be answered.
            principal: The caller.
            key: An idempotency key: the same key is the same answer; empty for none.

        Raises:
            InvalidRequest: The last message is not of a person or is empty, or the schema cannot
                be used.
            IdempotencyConflict: The key was used for something else.
        """
        if not request.messages or not isinstance(request.messages[-1], UserMessage):
            raise InvalidRequest("The last message is the one to answer: its role is 'user'.")
        if not request.messages[-1].text.strip():
            raise InvalidRequest("The last message is the one to answer, and has no text.")
        *earlier, question = request.messages
        view = await self._runs.start_graph(
            _make_graph(request),
            {"message": question.text, "messages": [to_dict(item) for item in earlier]},
            principal=principal,
            key=key,
        )
        return view.id

    async def follow(self, run_id: str, *, principal: Principal) -> AsyncGenerator[CompletionEvent]:
        """What happens while an answer is made; last its end.

        Raises:
            RunNotFound: There is no such answer, or the caller may not see it.
        """
        async for event in self._runs.events(run_id, principal=principal):
            placed = place_event(str(event.data.get("node", "")), event.kind, event.data)
            kind, data = placed or ("", event.data)
            if kind == "text_delta":
                yield CompletionText(text=data["text"], turn=data["turn"])
            elif kind == "tool_started":
                yield CompletionCall(
                    id=data["call"], tool=data["tool"], arguments=data.get("arguments")
                )
            elif kind == "tool_finished":
                yield CompletionCall(
                    id=data["call"],
                    tool=data["tool"],
                    text=data.get("text", ""),
                    is_error=data["state"] != "completed",
                )
        yield await self._read_cited(run_id, principal)

    async def finish(self, run_id: str, *, principal: Principal) -> CompletionEnd:
        """Wait for the end of an answer, approvals included. Raises as `follow`."""
        async for _ in self._runs.events(run_id, principal=principal):
            pass
        return await self._read_cited(run_id, principal)

    async def _read_cited(self, run_id: str, principal: Principal) -> CompletionEnd:
        """The end of an answer, whose numbers were checked."""
        view = await self._runs.get(run_id, principal=principal)
        end = _read_end(view)
        if self._citer is None or not end.text:
            return end
        question = str(view.run.start.params.get("message", ""))
        cited = await self._citer.cite(end.text, run_id, question=question)
        messages = [
            structs.replace(item, text=cited.text)
            if isinstance(item, AssistantMessage) and item.text == end.text
            else item
            for item in end.messages
        ]
        return replace(end, text=cited.text, messages=messages, citations=cited.citations)

    async def cancel(self, run_id: str, *, principal: Principal) -> None:
        """Stop an answer; one that has ended stays as it is. Raises as `follow`."""
        await self._runs.cancel(run_id, principal=principal)

    async def read_messages(self, run_id: str, *, principal: Principal) -> list[Message]:
        """The conversation with an answer that has ended, to go on with.

        Raises:
            RunNotFound: There is no such answer, the caller may not see it, or it has not ended.
        """
        view = await self._runs.get(run_id, principal=principal)
        params = view.run.start.params
        is_answer = view.graph.name == COMPLETION and params.keys() >= {"message", "messages"}
        if not is_answer or view.run.finished_at is None:
            raise RunNotFound(f"There is no answer '{run_id[:100]}'.")
        earlier = [read_message(item) for item in params["messages"]]
        return [*earlier, UserMessage(text=params["message"]), *_read_end(view).messages]


def _make_graph(request: CompletionRequest) -> Graph:
    config: dict[str, Any] = {}
    if request.agent:
        config |= {"agent": request.agent, "engine": "own"}
    if settings := to_builtins(request.settings):
        config["settings"] = settings
    if request.output_schema is not None:
        config["output_schema"] = dict(request.output_schema)
    node = Node(
        id="agent",
        kind="goal" if request.agent else "agent",
        input={"message": "$.params.message", "messages": "$.params.messages"},
        config=config,
    )
    return Graph(nodes=(node,), name=COMPLETION, params=_PARAMS, output="$.steps.agent.output")


def _read_end(view: RunView) -> CompletionEnd:
    result = view.result
    output: Mapping[str, Any] = (result.nodes[0].output if result.nodes else None) or {}
    return CompletionEnd(
        state=result.state,
        text=str(output.get("text", "")),
        messages=[read_message(item) for item in output.get("messages") or ()],
        usage=convert(output.get("usage") or {}, ModelUsage),
        finish=output.get("finish", "stop"),
        error=result.error,
    )
