"""How an entry of a marketplace is told of at a terminal."""

import sys
from collections.abc import Mapping
from typing import Any

from pegboard.cli.output.tables import first_line, say, table

_HEAD = ("title", "publisher", "version", "kind", "homepage", "repository", "updated_at")


def tell_review(shown: Mapping[str, Any]) -> None:
    """All that would come of adding it."""
    say(f"entry: {shown['marketplace']}/{shown['entry']}")
    for key in _HEAD:
        if shown[key]:
            say(f"{key.removesuffix('_at')}: {shown[key]}")
    if shown["description"]:
        say(f"description: {shown['description']}")
    words = ", ".join(f"{item['name']} ({item['told_as']})" for item in shown["capabilities"])
    if words:
        say(f"found by: {words}")
    _tell_way(shown)
    for need in shown["needs"]:
        kind = f"{need['place']}, secret" if need["is_secret"] else need["place"]
        state = "is set" if need["is_set"] else "is not set"
        told = f"needs: {need['name']} ({kind}): {need['variable']} {state}."
        say(f"{told} {need['description']}".rstrip())
    for warning in shown["warnings"]:
        say(f"! {warning}")
    _tell_tools(shown)
    if shown["board_file"]:
        say("")
        say(shown["board_file"].rstrip("\n"))
    say("")
    say(f"digest: {shown['digest']}")


def _tell_way(shown: Mapping[str, Any]) -> None:
    others = ", ".join(item["way"] for item in shown["other_ways"])
    say(f"way: {shown['way']}{f' (there are also: {others})' if others else ''}")
    if shown["command"]:
        say(f"starts on this machine: {' '.join(shown['command'])}")
    if shown["address"]:
        say(f"address: {shown['address']}")
    if shown["why_not"]:
        say(f"over HTTP: not to be added. {shown['why_not']}")


def _tell_tools(shown: Mapping[str, Any]) -> None:
    say("")
    if shown["tools_note"]:
        say(shown["tools_note"])
        return
    sys.stdout.flush()
    rows = [
        (
            row["name"],
            row["effect"],
            f"(unavailable: {row['unavailable']})"
            if row["unavailable"]
            else first_line(row["description"]),
        )
        for row in shown["tools"]
    ]
    table(("tool", "effect", "description"), rows)
