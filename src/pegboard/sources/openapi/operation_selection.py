"""Selects the operations that become tools, and names them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.wire_names import wire_name
from pegboard.errors import SourceUnavailable
from pegboard.sources.openapi.config import OpenApiConfig, OperationFilter, OperationOverride
from pegboard.sources.openapi.document.lenient_access import mapping
from pegboard.sources.openapi.document.operations import Operation

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]+")
_BRACES = re.compile(r"[{}]")
_NO_WORD = re.compile(r"\W")
_MERGED = ("defaults", "hidden")


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedOperation:
    """An operation that becomes a tool.

    Attributes:
        action: The name of the tool after the source's name.
        override: The operator's changes.
        is_exact: Whether an override names exactly this operation, so that a mismatch is a mistake.
        id: Its id, by which its definition is pinned.
    """

    operation: Operation
    action: str
    override: OperationOverride
    is_exact: bool = False
    id: str = ""


def select_operations(
    source: str, operations: Sequence[Operation], config: OpenApiConfig
) -> tuple[list[SelectedOperation], str]:
    """Return the operations that become tools, and a note on filters that match nothing.

    Raises:
        SourceUnavailable: No operation is left, an exclusion or override matches nothing, or two
            tools would have the same name.
    """
    if not operations:
        return [], "The document has no operations."
    ids = unique_ids(operations)
    short = short_names(ids, operations)
    readable = readable_names(short.values())
    known = [
        _Known(id=name, short=short[name], readable=readable[short[name]], operation=operation)
        for name, operation in zip(ids, operations, strict=True)
    ]
    _check_exclusions(config, known)
    kept = [
        one
        for one in known
        if (not config.include or any(_fits(rule, one) for rule in config.include))
        and not any(_fits(rule, one) for rule in config.exclude)
    ]
    if not kept:
        raise SourceUnavailable(
            f"None of {len(operations)} operations is selected: correct include and exclude.",
            permanent=True,
        )
    actions = readable_names(one.short for one in kept)
    made = [_apply_overrides(one, actions[one.short], config.overrides) for one in kept]
    _check_names(source, made)
    unmatched = [
        word for rule in config.include for word, found in _words_of(rule, known) if not found
    ]
    if not unmatched:
        return made, ""
    return made, f"include matches nothing for: {_with_suggestions(unmatched, _words(known))}."


def unique_ids(operations: Sequence[Operation]) -> list[str]:
    """Return an id for each operation: its own if it is unique, else its method and path."""
    counted = Counter(operation.id for operation in operations)
    return [
        operation.id if operation.id and counted[operation.id] == 1 else operation.place
        for operation in operations
    ]


def short_names(ids: Sequence[str], operations: Sequence[Operation]) -> dict[str, str]:
    """Return a shorter name for each id that FastAPI made, and otherwise the id.

    FastAPI makes `list_tickets_tickets_get` of the function `list_tickets`, the path `/tickets` and
    the method. The function's name is used where it is unique in the document.
    """
    wanted = {
        name: _function_of(operation) or name
        for name, operation in zip(ids, operations, strict=True)
    }
    counted = Counter(
        [*wanted.values(), *(name for name, short in wanted.items() if short != name)]
    )
    return {name: short if counted[short] == 1 else name for name, short in wanted.items()}


def _function_of(operation: Operation) -> str:
    """Return the function's name in an id that FastAPI made; empty for another id."""
    ending = f"{_NO_WORD.sub('_', operation.path)}_{operation.method}"
    return operation.id.removesuffix(ending) if operation.id.endswith(ending) else ""


def readable_names(ids: Iterable[str]) -> dict[str, str]:
    """Return a name of letters, digits, `_` and `-` for each id, or the id if names collide.

    `GET /orders/{id}` becomes `get_orders_id`, `repos/get` becomes `repos_get`.
    """
    wanted: dict[str, str] = {}
    for name in ids:
        plain = name
        if _UNFIT.search(name):
            method, space, path = name.partition(" /")
            plain = f"{method.lower()}/{_BRACES.sub('', path)}" if space else name
            plain = _UNFIT.sub("_", plain).strip("_")
        wanted[name] = plain
    counted = Counter(wanted.values())
    return {
        name: plain if plain and (plain == name or counted[plain] == 1) else name
        for name, plain in wanted.items()
    }


class _Known(NamedTuple):
    """An operation of the document, with its id, a shorter name, and that of its tool."""

    id: str
    short: str
    readable: str
    operation: Operation

    @property
    def names(self) -> tuple[str, ...]:
        """What `include`, `exclude` and `overrides` may call it."""
        return self.id, self.short, self.readable


def _fits(rule: OperationFilter, one: _Known) -> bool:
    operation = one.operation
    return (
        (not rule.tags or any(_any(rule.tags, tag) for tag in operation.tags))
        and (not rule.paths or _any(rule.paths, operation.path))
        and (not rule.methods or operation.method in rule.methods)
        and (not rule.operations or any(_any(rule.operations, name) for name in one.names))
    )


def _any(patterns: Iterable[str], value: str) -> bool:
    return any(value == pattern or fnmatchcase(value, pattern) for pattern in patterns)


def _words_of(rule: OperationFilter, known: Sequence[_Known]) -> Iterable[tuple[str, bool]]:
    """Yield each pattern of a filter, and whether it matches anything."""
    for pattern in rule.tags:
        yield pattern, any(_any((pattern,), tag) for one in known for tag in one.operation.tags)
    for pattern in rule.paths:
        yield pattern, any(_any((pattern,), one.operation.path) for one in known)
    for pattern in rule.operations:
        yield pattern, any(_any((pattern,), name) for one in known for name in one.names)


def _check_exclusions(config: OpenApiConfig, known: Sequence[_Known]) -> None:
    """Refuse exclusions that match nothing: a typo would leave an operation exposed."""
    ids = [name for one in known for name in one.names]
    excluded = [
        word for rule in config.exclude for word, found in _words_of(rule, known) if not found
    ]
    overridden = [
        pattern for pattern in config.overrides if not any(_any((pattern,), name) for name in ids)
    ]
    problems: list[str] = []
    if excluded:
        problems.append(f"exclude: {_with_suggestions(excluded, _words(known))}")
    if overridden:
        problems.append(f"overrides: {_with_suggestions(overridden, ids)}")
    if problems:
        raise SourceUnavailable(
            f"The configuration names what the document does not have: {'; '.join(problems)}. "
            "Correct the spelling, or remove it.",
            permanent=True,
        )


def _words(known: Sequence[_Known]) -> set[str]:
    """Return everything that a filter can name."""
    return {word for one in known for word in (*one.names, *one.operation.tags, one.operation.path)}


def _with_suggestions(words: Iterable[str], there: Iterable[str]) -> str:
    """Return the words, each with the nearest known one."""
    known = sorted(there)
    shown: list[str] = []
    for word in words:
        hint = did_you_mean(word, known)
        shown.append(f"'{word}'{hint and f' ({hint})'}")
    return ", ".join(shown)


def _apply_overrides(
    one: _Known, action: str, overrides: Mapping[str, OperationOverride]
) -> SelectedOperation:
    merged: dict[str, object] = {}
    is_exact = False
    for pattern, override in overrides.items():
        if not any(_any((pattern,), name) for name in one.names):
            continue
        is_exact = is_exact or pattern in one.names
        for key in override.model_fields_set:
            value = getattr(override, key)
            if key in _MERGED:
                value = {**mapping(merged.get(key)), **value}
            merged[key] = value
    override = OperationOverride.model_validate(merged)
    return SelectedOperation(
        operation=one.operation,
        action=override.name or action,
        override=override,
        is_exact=is_exact,
        id=one.id,
    )


def _check_names(source: str, made: Sequence[SelectedOperation]) -> None:
    owners: dict[str, str] = {}
    for one in made:
        name = wire_name(source, one.action)
        if name in owners:
            raise SourceUnavailable(
                f"{one.operation.place} and {owners[name]} would both be called '{name}': rename "
                "one in overrides.",
                permanent=True,
            )
        owners[name] = one.operation.place
