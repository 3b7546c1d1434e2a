"""What a tool asks a person while a run calls it: an event of the run, and its answer.

The call stays open while it waits: a question stands in the middle of a request of its tool, so it
cannot outlive the process. The answer is a signal to the run, so any server may take it.
"""

import asyncio
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from msgspec import structs

from pegboard.core.context import ToolContext
from pegboard.core.elicitation import (
    Answer,
    Question,
    QuestionRules,
    Sample,
    SampleMessage,
    Sampler,
    SampleRequest,
)
from pegboard.core.ports.durability import Signal
from pegboard.core.result import TextPart
from pegboard.errors import ElicitationUnavailable, ToolFailed, Unavailable
from pegboard.graphs.question_forms import mask_answer, read_question
from pegboard.schemas.validator import compile_schema

if TYPE_CHECKING:
    from pegboard.graphs.node_kind import NodeContext

QUESTION_REQUIRED = "question_required"
QUESTION_SETTLED = "question_settled"
STATES = {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}
"""The state of an answered question, by the action of its answer."""
_MAX_OPEN = 8
"""Questions of one call that wait at the same time."""
_MAX_ASKED = 50
"""Questions of one call: a server could ask and take back without end."""


def question_topic(question: str) -> str:
    """The topic and the id of the signal that answers a question; there is at most one."""
    return f"question:{question}"


def take_questions(
    context: "NodeContext",
    ctx: ToolContext[Any],
    place: Mapping[str, Any],
    sampler: Sampler | None = None,
) -> ToolContext[Any]:
    """The context of a call whose tool may ask a person.

    Args:
        context: The node that calls.
        ctx: The context of the call; one that has an elicitor keeps it.
        place: What events of the call say of it.
        sampler: The model of the agent that calls; None where no agent does.
    """
    if ctx.elicitor is not None or context.question_rules is None:
        return ctx
    questions = CallQuestions(context, context.question_rules, place, sampler)
    return structs.replace(ctx, elicitor=questions)


class CallQuestions:
    """The elicitor of one call of a run.

    Args:
        context: The node that calls.
        rules: Whether somebody can be asked, and for how long.
        place: What events of the call say of it.
        sampler: The model that its tool may ask; None for none.
    """

    def __init__(
        self,
        context: "NodeContext",
        rules: QuestionRules,
        place: Mapping[str, Any],
        sampler: Sampler | None = None,
    ) -> None:
        self._context = context
        self._rules = rules
        self._place = place
        self._sampler = sampler
        self._open = 0
        self._asked = 0

    @property
    def takes_questions(self) -> bool:
        """True, also where each question is refused: its refusal has a reason."""
        return True

    @property
    def takes_samples(self) -> bool:
        """True, also where each request is refused: its refusal has a reason."""
        return True

    @property
    def deadline(self) -> float | None:
        """The deadline of the node."""
        return self._context.deadline

    async def ask(self, question: Question) -> Answer:
        """Report the question, and wait for its answer.

        Raises:
            ElicitationUnavailable: Nobody can be asked, or the question cannot be shown.
        """
        if not self._rules.timeout:
            raise ElicitationUnavailable(self._rules.refusal)
        if self._open >= _MAX_OPEN:
            raise ElicitationUnavailable(f"{_MAX_OPEN} questions of the call wait for an answer.")
        if self._asked >= _MAX_ASKED:
            raise ElicitationUnavailable(f"The call has asked {_MAX_ASKED} questions already.")
        shown = read_question(question)
        id_ = f"q_{secrets.token_hex(12)}"
        until = self._until()
        self._context.emit(
            QUESTION_REQUIRED,
            {**self._about(question), "question": id_, **shown, "expires_at": until},
        )
        self._open += 1
        self._asked += 1
        state, content = "lost", None
        try:
            signal = await self._context.receive(question_topic(id_), until=until)
            answer = _read_answer(signal, shown.get("schema"))
            state = "expired" if signal is None else STATES[answer.action]
            if answer.content:
                environment = self._context.board.environment
                content = mask_answer(answer.content, redact=environment.redact)
            return answer
        except asyncio.CancelledError:
            state = "cancelled" if self._context.has_stopped else "lost"
            raise
        finally:
            self._open -= 1
            data = {**self._about(question), "question": id_, "state": state}
            self._context.emit(
                QUESTION_SETTLED, data if content is None else {**data, "content": content}
            )

    async def sample(self, request: SampleRequest) -> Sample:
        """Show the request to the person, and ask the model of the agent if they allow it.

        Raises:
            ElicitationUnavailable: There is no model, nobody can be asked, or it is not text.
            ToolFailed: The person has refused, or has not answered.
            PegboardError: The model does not answer, or a quota is used up.
        """
        if self._sampler is None:
            raise ElicitationUnavailable("No agent makes this call, so there is no model to ask.")
        answer = await self.ask(Question(message=describe_sample(request, self._sampler.name)))
        if answer.action != "accept":
            raise ToolFailed("The person has not allowed this request to the model.")
        try:
            async with asyncio.timeout(self._until() - self._context.now()):
                return await self._sampler.sample(request)
        except TimeoutError as error:
            raise Unavailable("The model has not answered in time.") from error

    def _until(self) -> float:
        """Unix seconds until which a question waits: also that of the node."""
        context, seconds = self._context, self._rules.timeout
        if context.deadline is not None:
            seconds = max(0.0, min(seconds, context.deadline - context.monotonic()))
        return context.now() + seconds

    def _about(self, question: Question) -> dict[str, Any]:
        """The call, and who asks: a tool that is called within the call asks for itself."""
        name = question.tool or str(self._place.get("tool", ""))
        tool = self._context.board.find(name)
        source = "" if tool is None else tool.spec.source
        kind = "" if tool is None else tool.spec.handler
        return {**self._place, "tool": name, "source": source, "source_kind": kind}


def describe_sample(request: SampleRequest, model: str) -> str:
    """A request to a model, as the person is shown it who may refuse it.

    Raises:
        ElicitationUnavailable: It has something other than text, which nobody could read.
    """
    texts = [("instructions", request.system_prompt)] if request.system_prompt else []
    texts += [(message.role, read_sample_text(message)) for message in request.messages]
    size = sum(len(text) for _, text in texts)
    shown = "\n\n".join(f"[{role}]\n{text}" for role, text in texts)
    return f"May this tool ask the model {model}, at your expense? ({size} characters)\n\n{shown}"


def read_sample_text(message: SampleMessage) -> str:
    """The text of a message to a model.

    Raises:
        ElicitationUnavailable: It has something other than text.
    """
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    if len(texts) < len(message.content):
        raise ElicitationUnavailable("The model of a conversation is asked in text only.")
    return "\n".join(texts)


def _read_answer(signal: Signal | None, schema: Mapping[str, Any] | None) -> Answer:
    """The answer in a signal; a question without one was dismissed."""
    if signal is None:
        return Answer(action="cancel")
    message = cast("Mapping[str, Any]", signal.message)
    action = message.get("action")
    if action == "accept":
        content = cast("Mapping[str, Any]", message.get("content") or {})
        if schema is None or compile_schema("answer", schema).is_valid(content):
            return Answer(action="accept", content=content)
    return Answer(action="decline" if action == "decline" else "cancel")
