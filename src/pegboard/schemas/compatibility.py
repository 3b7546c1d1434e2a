"""Whether values of one JSON Schema can be used where another is expected.

The comparison looks at types (null included), `enum` and `const`, `required`, properties and items,
through references and alternatives. *Yes* means that every value fits, *no* that none does.
Other keywords count only where both schemas have them alike, or the expected bound is looser;
where they differ the answer is *unknown*.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from pegboard.schemas.document import Node, SchemaDocument, canonical
from pegboard.schemas.problems import describe_value
from pegboard.schemas.value_set import (
    FRACTION,
    ValueSet,
    position_schemas,
    rest_schema,
    types_of,
)

MAX_COMPARISONS = 1_000
MAX_REASONS = 20

_NUMBER, _ARRAY = frozenset({"integer", FRACTION}), frozenset({"array"})
_STRING, _OBJECT = frozenset({"string"}), frozenset({"object"})
_SIZES = ("minLength", "minItems", "minProperties", "uniqueItems")
_AT_LEAST = ("minimum", "exclusiveMinimum", *_SIZES)
_AT_MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_CONSTRAINTS: dict[str, frozenset[str]] = {
    **dict.fromkeys((*_AT_LEAST[:2], *_AT_MOST[:2], "multipleOf"), _NUMBER),
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), _STRING),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), _STRING),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems"), _ARRAY),
    **dict.fromkeys(("minProperties", "maxProperties"), _OBJECT),
}
"""Keywords with one plain value, and the types that they apply to."""
_OPAQUE = frozenset(
    {"not", "if", "then", "else", "contains", "minContains", "maxContains", "propertyNames"}
    | {"patternProperties", "dependentRequired", "dependentSchemas", "dependencies"}
)
"""Keywords that are held to be equal all together, or not compared."""
_NOT_COMPARED = ("unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$recursiveRef")


class Fits(StrEnum):
    """How certain it is that values of one schema fit another."""

    YES = "yes"
    UNKNOWN = "unknown"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """One reason why values may not fit.

    Attributes:
        path: Where in the values, as `items[].price`; empty for the whole.
        message: What is expected and what may come instead.
    """

    message: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message

    def within(self, step: str) -> "Mismatch":
        """The same mismatch with its path seen from one level above."""
        dot = "." if self.path and not self.path.startswith("[") else ""
        return replace(self, path=f"{step}{dot}{self.path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The result of a comparison, and a reason for everything that does not certainly fit."""

    answer: Fits
    reasons: tuple[Mismatch, ...] = ()

    @property
    def is_certain(self) -> bool:
        """Whether every value fits."""
        return self.answer is Fits.YES

    @property
    def is_impossible(self) -> bool:
        """Whether no value fits."""
        return self.answer is Fits.NO

    def __str__(self) -> str:
        return "; ".join(map(str, self.reasons)) or self.answer.value


_FITS = Fit(answer=Fits.YES)


def schema_fits(given: Any, wanted: Any, *, closed: bool = False) -> Fit:
    """Compare the schema of values that exist with the schema of values that are expected.

    ```python
    schema_fits({"type": "integer"}, {"type": "number"}).answer  # "yes"
    ```

    Args:
        given: JSON Schema of the values, as a tool's output.
        wanted: JSON Schema that they should fit, as a tool's input.
        closed: Take the objects of `given` to have the properties that they name and no others,
            as most authors mean it; JSON Schema itself leaves objects open.
    """
    first, second = SchemaDocument(given, closed=closed), SchemaDocument(wanted)
    for side, document in (("the given schema", first), ("the expected schema", second)):
        if document.fault:
            return _unknown(f"{side} {document.fault}")
    if canonical(given) == canonical(wanted):
        return _FITS
    try:
        fit = _Comparison(second).compare(ValueSet.of(first, given), wanted)
    except RecursionError:
        return _unknown("the schemas are too deep to be compared")
    return replace(fit, reasons=tuple(dict.fromkeys(fit.reasons))[:MAX_REASONS])


@dataclass(slots=True)
class _Comparison:
    """One comparison with the schemas of a document.

    Recursive schemas come back to a question that is still open. It counts as answered with yes
    when a step into the values lies between, because values are finite (R. Amadio, L. Cardelli,
    "Subtyping Recursive Types", TOPLAS 1993).
    """

    document: SchemaDocument
    remaining: int = MAX_COMPARISONS
    depth: int = 0
    open: dict[Any, int] = field(default_factory=dict[Any, int])
    assumptions: int = 0
    known: dict[Any, Fit] = field(default_factory=dict[Any, Fit])

    def compare(self, given: ValueSet, wanted: Any) -> Fit:
        if given.is_empty:
            return _FITS
        return _all_of(self._compare_part(given, node) for node in self.document.nodes(wanted))

    def _compare_part(self, given: ValueSet, node: Node) -> Fit:
        key = (given.key, id(node))
        if key in self.open:
            self.assumptions += 1
            return _FITS if self.open[key] < self.depth else _unknown("refers to itself")
        if key in self.known:
            return self.known[key]
        self.remaining -= 1
        if self.remaining < 0:
            return _unknown("the schemas are too large to be compared")
        self.open[key], assumptions = self.depth, self.assumptions
        fit = self._compare_alternatives(given, node)
        del self.open[key]
        if assumptions == self.assumptions:  # what leans on an open question holds only there
            self.known[key] = fit
        return fit

    def _compare_alternatives(self, given: ValueSet, node: Node) -> Fit:
        if given.listed is not None:
            return _any_of_these(self._check_value(node, value) for value in given.listed)
        fit = _all_of(self._apply_keywords(given, node))
        if fit.answer is not Fits.UNKNOWN:
            return fit
        pieces = given.alternatives()
        if not pieces and ("anyOf" in node or "oneOf" in node):
            pieces = given.split_by_type()
        if not pieces:
            return fit
        return _any_of_these(
            self._compare_part(piece, node) for piece in pieces if not piece.is_empty
        )

    def _check_value(self, node: Node, value: Any) -> Fit:
        accepted = self.document.accepts(node, value)
        if accepted is None:
            return _unknown(f"{describe_value(value)} could not be checked")
        return _FITS if accepted else _no(f"{describe_value(value)} does not fit")

    def _apply_keywords(self, given: ValueSet, node: Node) -> Iterator[Fit]:
        yield _compare_types(given.types, types_of(node))
        for keyword in ("enum", "const"):
            if keyword in node:
                yield _compare_values(
                    given, node[keyword] if keyword == "enum" else [node["const"]]
                )
        yield from _compare_constraints(given, node)
        yield from self._compare_opaque(given, node)
        if "array" in given.types:
            yield from self._compare_items(given, node)
        if "object" in given.types:
            yield from self._compare_properties(given, node)
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                yield self._compare_options(given, node[keyword], is_exclusive=keyword == "oneOf")

    def _compare_opaque(self, given: ValueSet, node: Node) -> Iterator[Fit]:
        if rest := [keyword for keyword in _NOT_COMPARED if keyword in node]:
            yield _unknown(f"'{rest[0]}' is not compared")
        wanted = _opaque_text(node)
        is_same_draft = given.document.draft == self.document.draft
        is_equal = is_same_draft and wanted in map(_opaque_text, given.nodes)
        if wanted != b"{}" and (not is_equal or b'"$' in wanted):
            yield _unknown(f"'{min(_OPAQUE & node.keys())}' is not compared")

    def _compare_items(self, given: ValueSet, node: Node) -> Iterator[Fit]:
        schemas, is_array = position_schemas(node), given.types == _ARRAY
        described = max(len(schemas), given.positions)
        certain = max(given.min_items, node.get("minItems", 0)) if is_array else 0
        for index in range(described + 1):
            wanted = schemas[index] if index < len(schemas) else rest_schema(node)
            step = f"[{index}]" if index < described else "[]"
            yield self._inside(step, given.get_item(index), wanted, is_present=index < certain)

    def _compare_properties(self, given: ValueSet, node: Node) -> Iterator[Fit]:
        is_object = given.types == _OBJECT
        described, required = node.get("properties", {}), frozenset[str](node.get("required", ()))
        for name in sorted(required - given.required):
            is_never = is_object and given.get_property(name).is_empty
            yield (_no if is_never else _unknown)("is required and may be missing", path=name)
        others = node.get("additionalProperties", True)
        for name in dict.fromkeys([*described, *given.named]):
            is_known = name in described or "patternProperties" not in node
            is_present = is_object and is_known and name in given.required | required
            wanted = described.get(name, others)
            yield self._inside(name, given.get_property(name), wanted, is_present=is_present)
        yield self._inside("*", given.others, others, is_present=False)

    def _inside(self, step: str, given: ValueSet, wanted: Any, *, is_present: bool) -> Fit:
        """Compare what is at a step into the values; if it may be absent, *no* is not certain."""
        self.depth += 1
        fit = self.compare(given, wanted)
        self.depth -= 1
        is_open = fit.answer is Fits.NO and not is_present
        return Fit(
            answer=Fits.UNKNOWN if is_open else fit.answer,
            reasons=tuple(reason.within(step) for reason in fit.reasons),
        )

    def _compare_options(self, given: ValueSet, options: list[Any], *, is_exclusive: bool) -> Fit:
        fits = [self.compare(given, option) for option in options]
        possible = [fit for fit in fits if not fit.is_impossible]
        if not possible:
            return _no(f"fits none of the {len(options)} alternatives")
        if any(fit.is_certain for fit in possible) and not (is_exclusive and len(possible) > 1):
            return _FITS
        if len(possible) == 1:
            return possible[0]
        return _unknown(f"may not fit exactly one of the {len(options)} alternatives")


def _compare_types(given: frozenset[str], wanted: frozenset[str]) -> Fit:
    if given <= wanted:
        return _FITS
    message = f"expected {_list_types(wanted)}, got {_list_types(given)}"
    return _unknown(message) if given & wanted else _no(message)


def _compare_values(given: ValueSet, wanted: list[Any]) -> Fit:
    text = ", ".join(map(describe_value, wanted[:8]))[:200] or "no value"
    return (_no if all(map(given.excludes, wanted)) else _unknown)(f"expected {text}")


def _compare_constraints(given: ValueSet, node: Node) -> Iterator[Fit]:
    for keyword, types in _CONSTRAINTS.items():
        limit = node.get(keyword)
        if limit is None or not types & given.types or (limit == 0 and keyword in _SIZES):
            continue
        if not any(_implies(keyword, other.get(keyword), limit) for other in given.nodes):
            yield _unknown(f"'{keyword}' ({limit}) may not hold")


def _implies(keyword: str, given: Any, wanted: Any) -> bool:
    if given is None or given == wanted:
        return given is not None
    return given > wanted if keyword in _AT_LEAST else keyword in _AT_MOST and given < wanted


def _opaque_text(node: Node) -> bytes:
    return canonical({keyword: node[keyword] for keyword in _OPAQUE if keyword in node})


def _all_of(fits: Iterable[Fit]) -> Fit:
    """Values have to pass every one of these checks."""
    reasons: list[Mismatch] = []
    for fit in fits:
        if fit.is_impossible:
            return fit
        reasons += fit.reasons
    return Fit(answer=Fits.UNKNOWN, reasons=tuple(reasons)) if reasons else _FITS


def _any_of_these(fits: Iterable[Fit]) -> Fit:
    """Each of these checks is of some of the values."""
    found = list(fits)
    answers = {fit.answer for fit in found}
    answer = answers.pop() if len(answers) == 1 else Fits.UNKNOWN if answers else Fits.YES
    return Fit(answer=answer, reasons=tuple(reason for fit in found for reason in fit.reasons))


def _unknown(message: str, *, path: str = "") -> Fit:
    return Fit(answer=Fits.UNKNOWN, reasons=(Mismatch(message=message, path=path),))


def _no(message: str, *, path: str = "") -> Fit:
    return Fit(answer=Fits.NO, reasons=(Mismatch(message=message, path=path),))


def _list_types(types: frozenset[str]) -> str:
    if types >= _NUMBER:
        types = types - _NUMBER | {"number"}
    return " or ".join(sorted(types)) if len(types) < 6 else "any value"
