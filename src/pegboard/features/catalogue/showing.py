"""The definition of a registered tool as it may be shown: all that was given, and no secret."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from pegboard.execution.results.redaction import MASK, redacted_value

_SECRETIVE = re.compile(r"token|secret|pass|pwd|key|credential|auth", re.IGNORECASE)
_USER_INFO = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@]*:)[^\s/]*@")
_QUERY = re.compile(r"([?&]([^=&#\s]+)=)([^&#\s]+)")


def shown_definition(
    definition: Mapping[str, Any], redact: Callable[[str], str] | None
) -> dict[str, Any]:
    """The definition in the RFC's words; what says nothing is left out.

    Args:
        definition: As it is kept.
        redact: Takes out what the board knows to be secret; None when there is nothing.
    """
    given = {
        name.removesuffix("_"): value for name, value in definition.items() if value is not None
    }
    for name in given.keys() & {"url", "server"}:
        given[name] = _without_secrets(str(given[name]))
    if "agent_config" in given:
        given["agent_config"] = _masked(given["agent_config"])
    return given if redact is None else redacted_value(given, redact)


def _masked(value: Any, name: str = "") -> Any:
    """Without the texts whose names say that they are secret; a number of tokens is none."""
    if isinstance(value, str):
        return MASK if _SECRETIVE.search(name) else _without_secrets(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: _masked(item, key) for key, item in items}
    if isinstance(value, (list, tuple)):
        return [_masked(item, name) for item in cast("list[Any]", value)]
    return value


def _without_secrets(text: str) -> str:
    """Without the passwords, and what else is secret by its name, of the addresses in a text."""
    return _QUERY.sub(_parameter, _USER_INFO.sub(rf"\g<1>{MASK}@", text))


def _parameter(found: re.Match[str]) -> str:
    return f"{found[1]}{MASK}" if _SECRETIVE.search(found[2]) else found[0]
