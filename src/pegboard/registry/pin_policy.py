"""What to do when an upstream changes the definition of a tool after it was approved.

Models obey descriptions, and policy believes annotations: whoever may change them unseen may tell
an agent what to do. So only what lets everything work as before passes for additive; other words
do not, nor does an argument that brings words of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from pegboard.core.tool import ToolSpec
from pegboard.errors import ConfigError
from pegboard.registry.definition_diff import DefinitionDiff, definition_diff
from pegboard.schemas.diff import Change, SchemaChangeKind

PinningPolicy = Literal["auto", "additive", "ask", "block"]
"""`auto` takes every change, `additive` those that are additive and bring no words, and asks about
others, `ask` asks about all, `block` keeps what was approved for good."""

NewPolicy = Literal["accept", "ask"]
"""What becomes of a tool that a source lists later than its first ones: `accept` takes it as it is,
`ask` asks about it as about a change."""

_PROSE = frozenset({"description", "$comment", "examples"})
_LONGEST_WORD = 80
"""Longer texts are prose, wherever in a schema they stand."""

Outcome = Literal["accept", "hold", "refuse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What becomes of a definition.

    Attributes:
        outcome: `accept` it; `hold` it back until somebody approves the diff; `refuse` it.
        reason: Why, in a sentence.
        diff: What changed.
    """

    outcome: Outcome
    reason: str
    diff: DefinitionDiff

    @property
    def is_accepted(self) -> bool:
        """Whether the new definition may be used."""
        return self.outcome == "accept"


def judge(old: ToolSpec, new: ToolSpec, policy: PinningPolicy) -> Verdict:
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
    return Verdict(outcome=outcome, reason=reason, diff=diff)


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
    """What a model would read as prose; a title that repeats a name is none."""
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
    elif isinstance(value, str) and len(value) > _LONGEST_WORD:
        yield value


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())
