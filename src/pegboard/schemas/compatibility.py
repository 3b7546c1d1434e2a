"""Whether what one tool gives can be handed to another: a careful comparison of two JSON Schemas.

*Yes* means that every value that fits the first fits the second, *no* that none does; whatever
cannot be shown is *doubtful*. As in A. Habib et al., "Finding Data Compatibility Bugs with JSON
Subschema Checks" (ISSTA 2021), but without rewriting the schemas into a normal form first.
Formats are compared by name, although nothing enforces them.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pegboard.schemas.disjoint import why_apart
from pegboard.schemas.document import Document, canonical
from pegboard.schemas.keyword_checks import Case, complaints
from pegboard.schemas.mismatch import Mismatch
from pegboard.schemas.type_facts import Facts, Values

_MOST_STEPS = 1_000
_MOST_REASONS = 20
_CHOICES = frozenset({"anyOf", "oneOf", "not", "if"})


class Fits(StrEnum):
    """How sure it is that values of one schema fit another."""

    YES = "yes"
    DOUBTFUL = "doubtful"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """An answer, and why it is not *yes*: every place that does not surely fit."""

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


def schema_fits(given: Any, wanted: Any, *, closed: bool = False) -> Fit:
    """Whether values of the schema `given` can be handed to where `wanted` is asked for.

    ```python
    schema_fits({"type": "integer"}, {"type": "number"}).answer  # "yes"
    ```

    Args:
        given: JSON Schema of what there is, as a tool's output.
        wanted: JSON Schema of what is needed, as a tool's input.
        closed: Take the objects of `given` to have the properties that they name and no others,
            as most authors mean it; JSON Schema itself leaves objects open.
    """
    first, second = Document(given, closed=closed), Document(wanted)
    for who, document in (("what is given", first), ("what is wanted", second)):
        if document.fault:
            return _doubtful(Mismatch(message=f"{who} {document.fault}"))
    if canonical(given) == canonical(wanted):
        return Fit(answer=Fits.YES)
    try:
        return _compared(first, second)
    except RecursionError:
        return _doubtful(Mismatch(message="the schemas are too deep to be compared"))


def _compared(first: Document, second: Document) -> Fit:
    given, wanted = first.root, second.root
    comparison = _Comparison()
    values = Values(document=first, nodes=first.nodes(given))
    mismatches = comparison.mismatches(values, second, wanted)
    if not mismatches:
        return Fit(answer=Fits.YES)
    other = Values(document=second, nodes=second.nodes(wanted))
    if reason := why_apart(comparison, values, other):
        return Fit(answer=Fits.NO, reasons=(reason,))
    return _doubtful(*mismatches)


def _doubtful(*reasons: Mismatch) -> Fit:
    return Fit(answer=Fits.DOUBTFUL, reasons=tuple(dict.fromkeys(reasons))[:_MOST_REASONS])


@dataclass(slots=True)
class _Comparison:
    """One comparison: what it has found, and how many more steps it may take.

    A recursive schema comes back to a question that is still open. It may be taken for answered
    with yes, if a step into the values lies between: values are finite, so that the argument ends
    (R. Amadio, L. Cardelli, "Subtyping Recursive Types", TOPLAS 1993).
    """

    steps: int = _MOST_STEPS
    depth: int = 0
    granted: dict[Any, int] = field(default_factory=dict[Any, int])
    refused: dict[Any, list[Mismatch]] = field(default_factory=dict[Any, "list[Mismatch]"])

    def mismatches(self, given: Values, document: Document, wanted: Any) -> list[Mismatch]:
        if Facts(given).is_empty:
            return []
        nodes = document.nodes(wanted)
        return [mismatch for node in nodes for mismatch in self._against(given, document, node)]

    def inside(self, step: str, given: Values, document: Document, wanted: Any) -> list[Mismatch]:
        self.depth += 1
        found = self.mismatches(given, document, wanted)
        self.depth -= 1
        return [mismatch.within(step) for mismatch in found]

    def may_go_on(self) -> bool:
        self.steps -= 1
        return self.steps > 0

    def _against(self, given: Values, document: Document, node: Any) -> list[Mismatch]:
        if document.root is given.document.root and any(node is n for n in given.nodes):
            return []
        key = (given.key, id(document), id(node))
        if (granted := self.granted.get(key)) is not None:
            return [] if granted < self.depth else [Mismatch(message="refers to itself")]
        if key in self.refused:
            return self.refused[key]
        if not self.may_go_on():
            return [Mismatch(message="the schemas are too large to be compared")]
        before = len(self.granted)
        self.granted[key] = self.depth
        found = self._looked_at(given, document, node)
        if found:
            while len(self.granted) > before:  # what was granted since may have leant on this
                self.granted.popitem()
            self.refused[key] = found
        else:
            self.granted[key] = -1
        return found

    def _looked_at(self, given: Values, document: Document, node: Any) -> list[Mismatch]:
        facts = Facts(given)
        case = Case(comparison=self, facts=facts, given=given, document=document, node=node)
        found = complaints(case)
        if not found or facts.listed is not None:
            return found
        pieces = given.alternatives()
        if not pieces and not _CHOICES.isdisjoint(node):
            pieces = given.by_type(facts.types)
        if not pieces:
            return found
        return [
            mismatch
            for piece in pieces
            if not Facts(piece).is_empty
            for mismatch in self._against(piece, document, node)
        ]
