"""What each keyword of a wanted schema asks of the values that are given."""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pegboard.schemas.disjoint import why_apart
from pegboard.schemas.document import Document, Node
from pegboard.schemas.mismatch import Comparing, Mismatch
from pegboard.schemas.problems import describe_value
from pegboard.schemas.type_facts import (
    BROKEN,
    WHOLE,
    Facts,
    Number,
    Values,
    places_of,
    rest_of,
    types_of,
)

_TEXTS = ("pattern", "format", "contentEncoding", "contentMediaType")
_NOT_COMPARED: dict[str, tuple[str, ...]] = {
    "array": ("contains", "unevaluatedItems"),
    "object": (
        *("propertyNames", "dependentRequired", "dependentSchemas", "dependencies"),
        "unevaluatedProperties",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One part of a wanted schema, and what is given for it."""

    comparison: Comparing
    facts: Facts
    given: Values
    document: Document
    node: Node

    def mismatches(self, wanted: Any) -> list[Mismatch]:
        """Why what is given may not fit another part of the document."""
        return self.comparison.mismatches(self.given, self.document, wanted)

    def inside(self, step: str, given: Values, wanted: Any) -> list[Mismatch]:
        """Why what is given at this step may not fit."""
        return self.comparison.inside(step, given, self.document, wanted)

    def is_apart(self, wanted: Any) -> bool:
        """Whether nothing of what is given fits another part of the document."""
        other = Values(document=self.document, nodes=self.document.nodes(wanted))
        return why_apart(self.comparison, self.given, other) is not None


def complaints(case: Case) -> list[Mismatch]:
    """Why what is given may not fit this part; nothing when it surely does."""
    if case.facts.listed is not None:
        return list(_listed(case, case.facts.listed))
    return [mismatch for rule in _RULES for mismatch in rule(case)]


def _listed(case: Case, values: list[Any]) -> Iterator[Mismatch]:
    for value in values:
        fits = case.document.accepts(case.node, value)
        if fits is False:
            yield Mismatch(message=f"may be {describe_value(value)}, which does not fit")
        elif fits is None:
            yield Mismatch(
                message=f"may be {describe_value(value)}, of which it is not known whether it fits"
            )


def _types(case: Case) -> Iterator[Mismatch]:
    wanted = types_of(case.node)
    if surplus := case.facts.types - wanted:
        yield Mismatch(message=f"may be {_named(surplus)}; wanted is {_named(wanted)}")


def _few(case: Case) -> Iterator[Mismatch]:
    for keyword in ("enum", "const"):
        if keyword in case.node:
            wanted = case.node[keyword] if keyword == "enum" else [case.node[keyword]]
            text = ", ".join(json.dumps(value, ensure_ascii=False) for value in wanted[:8])
            yield Mismatch(message=f"may be something else than {text[:200]}")


def _numbers(case: Case) -> Iterator[Mismatch]:
    facts, wanted = case.facts, Facts(Values(document=case.document, nodes=(case.node,)))
    if facts.types.isdisjoint({WHOLE, BROKEN}):
        return
    (least, outside), (bound, is_outside) = facts.lower, wanted.lower
    if least < bound or (least == bound and is_outside and not outside):
        yield Mismatch(message=f"may be {_than('less', bound, is_outside)}")
    (most, outside), (bound, is_outside) = facts.upper, wanted.upper
    if most > bound or (most == bound and is_outside and not outside):
        yield Mismatch(message=f"may be {_than('more', bound, is_outside)}")
    for divisor in wanted.numbers("multipleOf"):
        whole_only = BROKEN not in facts.types and divisor == 1
        if not whole_only and not any(_divides(divisor, n) for n in facts.numbers("multipleOf")):
            yield Mismatch(message=f"may be no multiple of {divisor}")


def _texts(case: Case) -> Iterator[Mismatch]:
    if "string" not in case.facts.types:
        return
    counts = case.facts.least("minLength"), case.facts.most("maxLength")
    yield from _sizes(case.node, counts, ("minLength", "maxLength"), "characters")
    for keyword in _TEXTS:
        text = case.node.get(keyword)
        if text is not None and text not in case.facts.texts(keyword):
            yield Mismatch(message=f"is not said to have the {_word(keyword)} '{str(text)[:100]}'")


def _arrays(case: Case) -> Iterator[Mismatch]:
    if "array" not in case.facts.types:
        return
    facts, node = case.facts, case.node
    counts = facts.least("minItems"), facts.most("maxItems")
    yield from _sizes(node, counts, ("minItems", "maxItems"), "items")
    if node.get("uniqueItems") is True and not facts.are_unique:
        yield Mismatch(message="may hold the same item twice")
    places, rest = places_of(node), rest_of(node)
    described = max(len(places), facts.places)
    for place in range(described):
        if place < facts.most("maxItems"):
            wanted = places[place] if place < len(places) else rest
            yield from case.inside(f"[{place}]", facts.item(place), wanted)
    if described < facts.most("maxItems"):
        yield from case.inside("[]", facts.item(described), rest)


def _objects(case: Case) -> Iterator[Mismatch]:
    facts, node = case.facts, case.node
    if "object" not in facts.types:
        return
    counts = facts.least_properties, facts.most_properties
    yield from _sizes(node, counts, ("minProperties", "maxProperties"), "properties")
    for name in node.get("required", ()):
        if name not in facts.required:
            yield Mismatch(path=name, message="is wanted always, and may be missing")
    described = node.get("properties", {})
    for name, wanted in described.items():
        yield from case.inside(name, facts.under(name), wanted)
    # which names a pattern means is not looked at: any other name may be meant
    others = list(node.get("patternProperties", {}).values())
    if "additionalProperties" in node:
        others.append(node["additionalProperties"])
    undescribed = [name for name in facts.named if name not in described]
    for wanted in others:
        for name in undescribed:
            yield from case.inside(name, facts.under(name), wanted)
        yield from case.inside("*", facts.others, wanted)


def _choices(case: Case) -> Iterator[Mismatch]:
    node = case.node
    if "anyOf" in node and not any(not case.mismatches(option) for option in node["anyOf"]):
        yield from _of_the_likely(case, node["anyOf"])
    if "oneOf" in node:
        options: list[Any] = node["oneOf"]
        fitting = next((option for option in options if not case.mismatches(option)), None)
        if fitting is None:
            yield from _of_the_likely(case, options)
        elif not all(case.is_apart(option) for option in options if option is not fitting):
            yield Mismatch(message="may fit several alternatives, of which exactly one is wanted")
    if "not" in node and not case.is_apart(node["not"]):
        yield Mismatch(message="may be what is not wanted")
    if "if" in node:
        yield from _conditions(case)


def _conditions(case: Case) -> Iterator[Mismatch]:
    condition = case.node["if"]
    if "then" in case.node and not case.is_apart(condition):
        yield from case.mismatches(case.node["then"])
    if "else" in case.node and case.mismatches(condition):
        yield from case.mismatches(case.node["else"])


def _not_compared(case: Case) -> Iterator[Mismatch]:
    keywords = ["$dynamicRef", "$recursiveRef"]
    for kind, of_this_kind in _NOT_COMPARED.items():
        keywords += of_this_kind if kind in case.facts.types else ()
    for keyword in keywords:
        if keyword in case.node:
            yield Mismatch(message=f"'{keyword}' of what is wanted is not compared")


_RULES: tuple[Callable[[Case], Iterable[Mismatch]], ...] = (
    *(_types, _few, _numbers, _texts, _arrays, _objects, _choices, _not_compared),
)


def _of_the_likely(case: Case, options: list[Any]) -> Iterator[Mismatch]:
    """What is wrong with the alternative that was meant, where that can be told."""
    likely = [option for option in options if not case.is_apart(option)]
    if len(likely) == 1:
        yield from case.mismatches(likely[0])
    else:
        yield Mismatch(message=f"does not surely fit one of the {len(options)} alternatives")


def _sizes(
    node: Node, given: tuple[Number, Number], keywords: tuple[str, str], what: str
) -> Iterator[Mismatch]:
    (least, most), (at_least, at_most) = given, keywords
    if least < node.get(at_least, 0):
        yield Mismatch(message=f"may have fewer than {node[at_least]} {what}")
    if most > node.get(at_most, math.inf):
        yield Mismatch(message=f"may have more than {node[at_most]} {what}")


def _divides(divisor: Number, number: Number) -> bool:
    whole = isinstance(divisor, int) and isinstance(number, int)
    return number == divisor or (whole and number % divisor == 0)


def _than(word: str, bound: Number, is_outside: bool) -> str:  # noqa: FBT001 - half of a bound
    return f"{bound}, or {word}" if is_outside else f"{word} than {bound}"


def _word(keyword: str) -> str:
    return {"contentEncoding": "encoding", "contentMediaType": "media type"}.get(keyword, keyword)


def _named(types: frozenset[str]) -> str:
    if types >= {WHOLE, BROKEN}:
        types = types - {WHOLE, BROKEN} | {"number"}
    return " or ".join(sorted(types)) if len(types) < 6 else "anything"
