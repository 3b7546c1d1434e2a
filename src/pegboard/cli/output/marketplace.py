"""Prints an entry of a marketplace."""

import sys
from collections.abc import Mapping
from typing import Any

from pegboard.cli.output.tables import first_line, say, table

_HEAD = ("title", "publisher", "version", "kind", "homepage", "repository", "updated_at")


def print_review(shown: Mapping[str, Any]) -> None:
    """Print the review of an entry."""
    say(f"entry: {shown['marketplace']}/{shown['entry']}")
    for key in _HEAD:
        if shown[key]:
            say(f"{key.removesuffix('_at')}: {shown[key]}")
    if shown["description"]:
        say(f"description: {shown['description']}")
    words = ", ".join(f"{item['name']} ({item['told_as']})" for item in shown["capabilities"])
    if words:
        say(f"found by: {words}")
    _print_install_option(shown)
    for need in shown["needs"]:
        kind = f"{need['place']}, secret" if need["is_secret"] else need["place"]
        state = "is set" if need["is_set"] else "is not set"
        told = f"needs: {need['name']} ({kind}): {need['variable']} {state}."
        say(f"{told} {need['description']}".rstrip())
    for warning in shown["warnings"]:
        say(f"! {warning}")
    _print_tools(shown)
    if shown["board_file"]:
        say("")
        say(shown["board_file"].rstrip("\n"))
    say("")
    say(f"digest: {shown['digest']}")


def _print_install_option(shown: Mapping[str, Any]) -> None:
    others = ", ".join(item["way"] for item in shown["other_ways"])
    say(f"way: {shown['way']}{f' (there are also: {others})' if others else ''}")
    if shown["command"]:
        say(f"command on this machine: {' '.join(shown['command'])}")
    if shown["address"]:
        say(f"address: {shown['address']}")
    if shown["why_not"]:
        say(f"over HTTP: cannot be added. {shown['why_not']}")


def _print_tools(shown: Mapping[str, Any]) -> None:
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
