"""Digests of reviews: one of the whole, and one of each part."""

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.core.event import digest_of


def digest_review(shown: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the digest of a review, and the digests of its parts.

    The former is made of the latter, because a review may have many megabytes, and other tasks run
    between two parts.

    Args:
        shown: The review, with or without its digest.
    """
    places = list(_places(shown))  # two tools with one name both count
    return digest_of(places), dict(places)


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the parts in which two reviews differ, those of tools last."""
    found: list[str] = []
    for place in sorted({*before, *after}, key=lambda place: (place.startswith("tools."), place)):
        if place not in after:
            found.append(f"{place} (gone)")
        elif place not in before:
            found.append(f"{place} (new)")
        elif before[place] != after[place]:
            found.append(place)
    return found


def _places(shown: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    lasting = _lasting(shown)
    tools = lasting.pop("tools")
    for place, value in lasting.items():
        yield place, digest_of([value])
    for row in tools:
        yield f"tools.{row['name']}", digest_of(row)


def _lasting(shown: Mapping[str, Any]) -> dict[str, Any]:
    """The review without what depends on the time or the machine."""
    lasting = {key: value for key, value in shown.items() if key != "digest"}
    lasting["needs"] = [
        {key: value for key, value in need.items() if key != "is_set"} for need in shown["needs"]
    ]
    return lasting
