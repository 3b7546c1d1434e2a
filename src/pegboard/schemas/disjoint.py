"""Why no value fits two schemas at once, where that is certain."""

from collections.abc import Iterator

from pegboard.schemas.mismatch import Comparing, Mismatch
from pegboard.schemas.problems import describe_value
from pegboard.schemas.type_facts import BROKEN, WHOLE, Facts, Values

_NESTED = 20


def why_apart(
    comparison: Comparing, given: Values, wanted: Values, *, depth: int = 0
) -> Mismatch | None:
    """The reason why nothing that fits the one fits the other; None when something may.

    Recursive schemas are not followed for ever: `depth` counts how far they have been.
    """
    if depth > _NESTED or not comparison.may_go_on():
        return None
    one, other = Facts(given), Facts(wanted)
    if one.is_empty or other.is_empty:
        which = "there is no value that is given" if one.is_empty else "no value is wanted"
        return Mismatch(message=which)
    shared = one.types & other.types
    if not shared:
        return Mismatch(message=f"is {_named(one)}; wanted is {_named(other)}")
    return (
        _by_values(one, other)
        or _by_type(comparison, one, other, depth)
        or _by_negation(comparison, given, wanted)
        or _by_alternative(comparison, given, wanted, depth)
    )


def _by_values(one: Facts, other: Facts) -> Mismatch | None:
    if one.listed is not None and all(map(other.refuse, one.listed)):
        return Mismatch(message=f"{_few(one.listed)} does not fit")
    if other.listed is not None and all(map(one.refuse, other.listed)):
        return Mismatch(message=f"is never {_few(other.listed)}, which is wanted")
    return None


def _by_type(comparison: Comparing, one: Facts, other: Facts, depth: int) -> Mismatch | None:
    """Apart if they are so for each type that both have."""
    reason = None
    for kind in sorted(one.types & other.types):
        if kind in {WHOLE, BROKEN}:
            reason = _numbers(one, other)
        elif kind == "string":
            reason = _sizes(one, other, "minLength", "maxLength")
        elif kind == "array":
            reason = _sizes(one, other, "minItems", "maxItems") or next(
                _items(comparison, one, other, depth), None
            )
        elif kind == "object":
            reason = _sizes(one, other, "minProperties", "maxProperties") or next(
                _properties(comparison, one, other, depth), None
            )
        else:
            reason = None
        if reason is None:
            return None
    return reason


def _numbers(one: Facts, other: Facts) -> Mismatch | None:
    for first, second in ((one, other), (other, one)):
        (least, is_outside), (most, is_outside_too) = first.lower, second.upper
        if least > most or (least == most and (is_outside or is_outside_too)):
            return Mismatch(message=f"the numbers never meet: {_range(one)} and {_range(other)}")
    return None


def _sizes(one: Facts, other: Facts, least: str, most: str) -> Mismatch | None:
    for first, second in ((one, other), (other, one)):
        if first.least(least) > second.most(most):
            return Mismatch(
                message=f"the sizes never meet: at least {first.least(least)}, "
                f"and at most {second.most(most)}"
            )
    return None


def _items(comparison: Comparing, one: Facts, other: Facts, depth: int) -> Iterator[Mismatch]:
    certain = max(one.least("minItems"), other.least("minItems"))
    described = max(one.places, other.places)
    for place in range(int(min(certain, described + 1))):
        pair = one.item(place), other.item(place)
        if reason := why_apart(comparison, *pair, depth=depth + 1):
            yield reason.within(f"[{place}]")


def _properties(comparison: Comparing, one: Facts, other: Facts, depth: int) -> Iterator[Mismatch]:
    for name in sorted(one.required | other.required):
        pair = one.under(name), other.under(name)
        if Facts(pair[0]).is_empty:
            yield Mismatch(path=name, message="is wanted always, and never given")
        elif reason := why_apart(comparison, *pair, depth=depth + 1):
            yield reason.within(name)


def _by_negation(comparison: Comparing, given: Values, wanted: Values) -> Mismatch | None:
    for first, second in ((given, wanted), (wanted, given)):
        for node in second.nodes:
            if "not" in node and not comparison.mismatches(first, second.document, node["not"]):
                return Mismatch(message="all of it is what the other excludes")
    return None


def _by_alternative(
    comparison: Comparing, given: Values, wanted: Values, depth: int
) -> Mismatch | None:
    """Apart if every alternative of the one is."""
    for first, second in ((given, wanted), (wanted, given)):
        reasons: list[Mismatch | None] = [
            why_apart(comparison, piece, second, depth=depth + 1)
            if first is given
            else why_apart(comparison, second, piece, depth=depth + 1)
            for piece in first.alternatives()
        ]
        if reasons and all(reasons):
            return reasons[0]
    return None


def _few(values: list[object]) -> str:
    text = ", ".join(describe_value(value) for value in values[:5])
    return text if len(values) <= 5 else f"{text}, ..."


def _range(facts: Facts) -> str:
    return f"{facts.lower[0]} to {facts.upper[0]}"


def _named(facts: Facts) -> str:
    return " or ".join(sorted(facts.types))
