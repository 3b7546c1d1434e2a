"""The output of a node that answers a message: an agent, or a goal."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import structs, to_builtins

from pegboard.assembly import ModelToolList
from pegboard.core.graph import NodeState
from pegboard.core.model_messages import Finish, Message, ModelUsage, to_dict
from pegboard.core.run import NodeRun
from pegboard.engines.context import ContextState

OUTPUT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "messages": {"type": "array", "items": {"type": "object"}},
        "usage": {"type": "object"},
        "calls": {"type": "integer"},
        "turns": {"type": "integer"},
        "received": {"type": "array", "items": {"type": "string"}},
        "context": {"type": "object"},
        "tools": {"type": "object"},
        "finish": {"type": "string"},
        "artifacts": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["text", "messages"],
}


def end_run(  # noqa: PLR0913 - the fields of the output
    step: str,
    state: NodeState,
    *,
    text: str,
    finish: Finish,
    messages: Iterable[Message],
    usage: ModelUsage,
    calls: int,
    received: Iterable[str],
    context: ContextState,
    shown: ModelToolList,
    more: Mapping[str, Any],
    **known: Any,
) -> NodeRun:
    """How the run of a node ended, with an output that fits `OUTPUT_SCHEMA`.

    Args:
        step: The id of the node in its run.
        state: How it ended.
        text: The answer; empty for none.
        finish: Why the answer ended.
        messages: What the run adds to the conversation.
        usage: Of all models.
        calls: How many tools were called.
        received: The ids of messages that reached it while it worked.
        context: What the model is not shown of the conversation.
        shown: The tools that the model is shown; a note about further ones, and what their order
            cost, are not repeated.
        more: What only this kind of node has in its output.
        known: Other fields of the `NodeRun`.
    """
    return NodeRun(
        id=step,
        state=state,
        usage=usage if usage.requests else None,
        output={
            "text": text,
            "messages": [to_dict(message) for message in messages],
            "usage": to_builtins(usage),
            "calls": calls,
            "received": sorted(received),
            "context": to_builtins(context),
            "tools": to_builtins(structs.replace(shown, note="", usage=ModelUsage())),
            **more,
            **({} if finish == "stop" else {"finish": finish}),
        },
        **known,
    )
