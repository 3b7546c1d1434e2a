"""The policy for tools whose definition an upstream changes after it was approved.

Models follow descriptions and policies trust annotations, so an unseen change could instruct an
agent. Therefore only a change under which everything still works is additive: new wording is not,
nor is an argument that brings new text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from pegboard.core.tool import ToolSpec
from pegboard.errors import ConfigError
from pegboard.registry.definition_diff import DefinitionDiff, definition_diff
from pegboard.schemas.diff import Change, SchemaChangeKind

PinningPolicy = Literal["auto", "additive", "ask", "block"]
"""`auto` accepts every change, `additive` accepts additive changes without new text and asks about
others, `ask` asks about all, `block` refuses every change."""

NewPolicy = Literal["accept", "ask"]
"""For a tool that a source lists later than its first ones: `accept` it, or `ask` about it as about
a change."""

_PROSE = frozenset({"description", "$comment", "examples"})
_MAX_WORD = 80
"""Characters; longer texts in a schema count as prose."""

Outcome = Literal["accept", "hold", "refuse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PinVerdict:
    """The decision about a changed definition.

    Attributes:
        outcome: `accept` it; `hold` it until a person approves the diff; `refuse` it.
        reason: Why, in a sentence.
        diff: The changes.
    """

    outcome: Outcome
    reason: str
    diff: DefinitionDiff

    @property
    def is_accepted(self) -> bool:
        """Whether the new definition may be used."""
        return self.outcome == "accept"


def judge(old: ToolSpec, new: ToolSpec, policy: PinningPolicy) -> PinVerdict:
    """Whether a definition that an upstream gives may replace the one that was approved.

    Args:
        old: The definition in use.
        new: What the upstream says now.
        policy: What the operator wants.

    Raises:
        ConfigError: There is no such policy.
    """
    if policy not in get_args(PinningPolicy):
        raise ConfigError(f"pinning is one of auto, additive, ask, block; found {policy!r}")
    diff = definition_diff(old, new)
    outcome, reason = _by_policy(policy, diff)
    return PinVerdict(outcome=outcome, reason=reason, diff=diff)


def _by_policy(policy: PinningPolicy, diff: DefinitionDiff) -> tuple[Outcome, str]:
    if not diff.changes:
        return "accept", "is unchanged"
    if policy == "block":
        return "refuse", f"changes are blocked: {diff}"
    if policy == "auto":
        return "accept", "every change is accepted"
    if policy == "additive" and diff.kind is SchemaChangeKind.ADDITIVE and not _brings_words(diff):
        return "accept", "every change is additive"
    return "hold", f"has to be approved: {diff}"


def _brings_words(diff: DefinitionDiff) -> bool:
    return bool(diff.of_kind(SchemaChangeKind.WORDING)) or any(
        _new_words(change) for change in diff.changes
    )


def _new_words(change: Change) -> set[str]:
    name = change.place.rpartition(".")[2]
    return set(_words(change.after, name)) - set(_words(change.before, name))


def _words(value: Any, name: str) -> Iterator[str]:
    """The texts that a model would read as prose; a title that repeats a name is none."""
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, Any]", value).items():
            if key in _PROSE and not isinstance(item, Mapping):  # else an argument of that name
                yield str(item)
            elif key == "title" and isinstance(item, str):
                yield from () if _letters(item) == _letters(name) else (item,)
            else:
                yield from _words(item, key)
    elif isinstance(value, (list, tuple)):
        for item in cast("Sequence[Any]", value):
            yield from _words(item, name)
    elif isinstance(value, str) and len(value) > _MAX_WORD:
        yield value


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())
