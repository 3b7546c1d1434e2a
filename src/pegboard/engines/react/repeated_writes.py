"""Ask the caller before an answer that replaces another one repeats a write of that one.

What an answer has done stays done when its message is edited or answered again. A model is told so,
and may make the same call all the same: because the person wants it, or by mistake. Only the person
knows, and needs no right to approve calls: the question is theirs, as that of a tool is.

Only calls of the agents that give the two answers are compared: no call of a step of a goal, and
none of an agent that was called by `call_agent`.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import json

from pegboard.assembly import unwrap_call
from pegboard.core.elicitation import Question, QuestionRules
from pegboard.core.graph import NodeState
from pegboard.core.model_messages import ToolCall
from pegboard.core.run import NodeRun
from pegboard.engines.agent import AgentSetup
from pegboard.errors import AccessDenied
from pegboard.execution.results.redaction import redact_value
from pegboard.execution.retry_rules import is_repeatable
from pegboard.graphs.call_questions import CallQuestions
from pegboard.graphs.node_kind import NodeContext
from pegboard.graphs.tool_host import CallerTools, find_tool
from pegboard.schemas.strict_json import decode

_MAX_ARGUMENTS = 2_000
_QUESTION = (
    "The answer that this one replaces has called {tool} with these arguments already, and that "
    "call has taken effect, or may have. Call it a second time?\n\n{arguments}"
)


def repeats_write(context: NodeContext, call: ToolCall, setup: AgentSetup) -> bool:
    """Whether a call is a write that an answer which this one replaces has made already.

    A tool that is idempotent, or only reads, may be called again.

    Args:
        context: The part of the agent's node that calls.
        call: The call, by the name of the inner tool.
        setup: The agent.
    """
    tool = find_tool(CallerTools(setup.toolset, context.principal), call.name)[0]
    if tool is None or is_repeatable(tool.spec):
        return False
    wanted = _read(call)
    return any(
        earlier.name == call.name and _read(earlier) == wanted
        for earlier in map(unwrap_call, setup.replaced_calls)
    )


async def confirm_repeat(
    context: NodeContext,
    rules: QuestionRules,
    call: ToolCall,
    place: Mapping[str, Any],
    _key: str,
) -> NodeRun:
    """Ask the caller whether a call is to be made a second time; fails unless they agree.

    Args:
        context: The part of the agent's node that calls.
        rules: Whether the caller can be asked, and for how long.
        call: The call.
        place: What the events of the question say of the call.

    Raises:
        ElicitationUnavailable: Nobody can be asked.
    """
    questions = CallQuestions(context, rules, place)
    redact = context.board.environment.redact
    given = _read(call)
    shown = json.encode(given if redact is None else redact_value(given, redact)).decode()
    text = _QUESTION.format(tool=call.name, arguments=shown[:_MAX_ARGUMENTS])
    answer = await questions.ask(Question(message=text, tool=call.name))
    if answer.action != "accept":
        reason = "the answer that this one replaces has made this call, and the person has not "
        raise AccessDenied(call.name, f"{reason}agreed to a second one")
    return NodeRun(id=context.step, state=NodeState.COMPLETED, tool=call.name)


def _read(call: ToolCall) -> Any:
    """The arguments; as text where they are no JSON."""
    try:
        return decode(call.arguments or "{}")
    except ValueError:
        return call.arguments
