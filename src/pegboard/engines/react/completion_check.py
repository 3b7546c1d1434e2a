"""The completion check: whether an answer that follows calls of tools is one, judged by rules.

No model is asked. The rules find what can be read from the text and the calls alone, and let
everything pass that they are not sure of: a wrong alarm costs a turn.
"""

import re
from collections.abc import Callable, Sequence
from itertools import chain

from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    ModelResponse,
    ToolCall,
    ToolMessage,
)

_MAX_PROMISE = 300
"""Characters of a last sentence that can be a promise; what is longer is an answer."""
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
_STEP = (
    r"(?:check|look|search|find|fetch|get|query|call|try|retry|retrieve|read|open|run|verify|"
    r"investigate|gather|pull)"
)
_PROMISE = re.compile(
    rf"^(?:(?:ok|okay|now|next|first|then|so|great|alright)\W+)?"
    rf"(?:let me|i will|i['\u2019]ll|i am going to|i['\u2019]m going to)\s+"
    rf"(?:(?:now|also|first|next|then|quickly|just)\s+)*{_STEP}\b"
    r"|^(?:ich werde|lassen sie mich|lass mich)\b.{0,200}\b"
    r"(?:prüfen|nachsehen|nachschauen|suchen|abrufen|abfragen|aufrufen|ermitteln|holen)\W*$",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"fail|error|\bno\b|\bnot\b|n['\u2019]t\b|cannot|unable|unavailab|unsuccess|problem|issue|"
    r"sorry|apolog|unfortun|leider|entschuldig|désol|siento|lamento|spiac|desculp|"
    r"den(?:y|ied)|declin|reject|refus|cancel|block|"
    r"nicht|kein|fehl|abgelehnt|\bpas\b|échou|erreur|refus|\bno\b|\bnon\b|"
    r"rechaz|erro|impossib|\bniet\b|\bgeen\b|mislukt|não|falh",
    re.IGNORECASE,
)
"""Any word by which a text may say that something was not done, or be sorry for it."""
_LATIN = re.compile(r"[a-zA-Z\u00c0-\u024f]")


def find_gap(
    response: ModelResponse, messages: Sequence[Message], find_action: Callable[[ToolCall], str]
) -> str:
    """Why an answer is incomplete, in a sentence to its model; empty where it is not.

    Args:
        response: The answer, which calls no tool.
        messages: What the run has added to the conversation, calls and results included.
        find_action: Names the tool of a call that changes something; empty for a call that only
            reads.
    """
    if response.finish != "stop" or not any(isinstance(item, ToolMessage) for item in messages):
        return ""
    text = response.message.text.strip()
    if not text:
        return "The answer was empty."
    if _promises_step(text):
        return "The answer announces a further step, which was not taken."
    if name := _find_silent_failure(text, messages, find_action):
        return f"The last call of '{name}' failed, and the answer does not say so."
    return ""


def describe_gap(reason: str) -> str:
    """What the model is told when it is sent on."""
    return (
        f"({reason} Take the step now if it is still needed and possible. Then give the person "
        "the whole answer, and say what could not be done.)"
    )


def _promises_step(text: str) -> bool:
    """Whether the text ends by announcing what its writer is about to look up."""
    last = _SENTENCE_END.split(text)[-1].strip()
    return len(last) <= _MAX_PROMISE and _PROMISE.search(last) is not None


def _find_silent_failure(
    text: str, messages: Sequence[Message], find_action: Callable[[ToolCall], str]
) -> str:
    """The tool that was to change something, failed at last, and is not spoken of."""
    if not _is_latin(text) or _REFUSAL.search(text):
        return ""
    made = (item.calls for item in messages if isinstance(item, AssistantMessage))
    calls = {call.id: call for call in chain.from_iterable(made)}
    has_failed: dict[str, bool] = {}
    for item in messages:
        if isinstance(item, ToolMessage) and (call := calls.get(item.call_id)) is not None:
            has_failed[find_action(call)] = item.is_error
    return next((name for name, failed in has_failed.items() if name and failed), "")


def _is_latin(text: str) -> bool:
    """Whether the words of the rules could stand in the text at all."""
    letters = [char for char in text if char.isalpha()]
    return len(_LATIN.findall(text)) * 2 > len(letters)
