"""What a conversation over many tools sends to a model, and how much of it a prompt cache holds.

A provider reads from its cache what a request has in common with the one before, from the first
byte on, and tools come first. Tokens are estimated as a quarter of the bytes; a cached one is
billed as a tenth.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from selection import VARIABLE, make_registry, read_sets
from table import number, reach, section, table

TOOLS = 500
TURNS = 30
CACHED_PRICE = 0.1
GOAL_CACHED = 0.9
_RESULT = "x" * 400
_ANSWER = "y" * 400


@dataclass
class Bill:
    """What the requests of a conversation have in common, one by one."""

    sent: int = 0
    cached: int = 0
    first: int = 0
    _last: bytes = field(default=b"", repr=False)

    def add(self, tools: bytes, messages: Sequence[bytes]) -> None:
        """One request."""
        request = tools + b"".join(messages)
        same = _common(self._last, request)
        self.first = self.first or len(request)
        self.sent += len(request)
        self.cached += same
        self._last = request

    @property
    def tokens(self) -> float:
        """As they are billed."""
        return (self.sent - self.cached * (1 - CACHED_PRICE)) / 4


def cost_of_conversations() -> str:
    """Selection with a stable list, beside all tools inlined and a list chosen at each turn."""
    sets = read_sets()
    if not sets:
        return section("Tokens of a conversation", f"Not measured: see `{VARIABLE}`.")
    labelled = sets[-1]
    questions = labelled.questions[:TURNS]
    needed = set().union(*(gold for _, gold in questions))
    tools = [item for item in labelled.tools if item["id"] in needed]
    tools += [item for item in labelled.tools if item["id"] not in needed][: TOOLS - len(tools)]
    registry = make_registry(tools)
    bills = {
        "Pegboard": _play(questions, _kept(registry)),
        "chosen at each turn": _play(questions, _chosen(registry)),
        "all inlined": _play(questions, _inlined(registry)),
    }
    rows = [
        [
            name,
            number(bill.first / 4),
            number(bill.sent / 4 / 1000),
            f"{bill.cached / bill.sent:.3f}",
            number(bill.tokens / 1000),
        ]
        for name, bill in bills.items()
    ]
    ours, *others = bills.values()
    head = ["", "first request, tokens", "sent, 1,000 tokens", "cached", "billed, 1,000 tokens"]
    return section(
        "Tokens of a conversation",
        f"{len(questions)} questions of `{labelled.name}` over {len(tools)} tools, two requests "
        "each; requests of a model that has to find a tool itself are not counted.",
        table(head, rows),
        reach("share that the cache holds", ours.cached / ours.sent, GOAL_CACHED),
        reach("the others' bill, as a multiple", min(b.tokens for b in others) / ours.tokens, 1.0),
    )


Turn = tuple[bytes, str]
"""The rendered tools of a turn, and the note behind its question."""


def _play(questions: Sequence[tuple[str, frozenset[str]]], show: Callable[[str], Turn]) -> Bill:
    bill, messages = Bill(), [_message("system", "You are a helpful assistant.")]
    for question, gold in questions:
        tools, note = show(question)
        messages.append(_message("user", question))
        if note:
            messages.append(_message("user", note))
        bill.add(tools, messages)
        messages += [_message("assistant", str(sorted(gold))), _message("tool", _RESULT)]
        bill.add(tools, messages)
        messages.append(_message("assistant", _ANSWER))
    return bill


def _kept(registry: Any) -> Callable[[str], Turn]:
    kept: Any = None

    def show(question: str) -> Turn:
        nonlocal kept
        kept = _selector(registry, kept).select(question)
        return _render(kept.tools), kept.note

    return show


def _chosen(registry: Any) -> Callable[[str], Turn]:
    return lambda question: (_render(_selector(registry, None).select(question).tools), "")


def _inlined(registry: Any) -> Callable[[str], Turn]:
    from pegboard.registry.toolset import render_tool

    every = _render([render_tool(tool) for tool in registry])
    return lambda _question: (every, "")


def _selector(registry: Any, kept: Any) -> Any:
    from pegboard.assembly import SelectionLimits, ToolSelector
    from pegboard.core.principal import LOCAL
    from pegboard.registry.toolset import Toolset

    toolset = Toolset(registry=registry, listed=())
    limits = SelectionLimits()
    return ToolSelector(toolset, principal=LOCAL, limits=limits, kept=kept, goes_on=True)


def _render(tools: Sequence[Any]) -> bytes:
    from msgspec import json as fast

    return fast.encode(tools)


def _message(role: str, text: str) -> bytes:
    return json.dumps({"role": role, "content": text}).encode()


def _common(before: bytes, after: bytes) -> int:
    """The bytes at the beginning that both have."""
    if after.startswith(before):
        return len(before)
    pairs = zip(before, after, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
