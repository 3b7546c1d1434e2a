"""Reports the settings in force and what the board file sets, with where each comes from."""

from collections.abc import Mapping, Sized
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct
from pydantic import SecretStr

from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.settings import PREFIX, Settings

SettingOrigin = Literal["default", "environment", "program"]

_GROUPS: Mapping[str, tuple[str, ...]] = {
    "server": ("host", "port", "token", "public_url", "url", "trusted_proxies", "header_timeout"),
    "storage": ("board", "reload", "data", "database", "secret_", "files", "s3_", "run_lease"),
    "people": ("oauth_", "oidc_", "password_memory", "knowledge_web"),
    "models": (
        "model",
        "fast_model",
        "embed_model",
        "rerank_model",
        "vision_model",
        "max_listed_tools",
        "selected_tools",
        "search_by_meaning",
        "rerank_tools",
        "rerank_timeout",
        "connector_tool_mode",
        "database_tool_mode",
        "mcp_tool_mode",
        "mcp_name_length",
        "skill_tool_mode",
    ),
    "calls": (
        "attempt_timeout",
        "call_timeout",
        "list_timeout",
        "open_",
        "approval_ttl",
        "question_timeout",
    ),
    "limits": ("max_",),
    "records": ("log", "traces", "audit", "audit_required", "store_arguments", "keep_"),
    "services": ("search_", "smtp_", "email_", "notify_", "image_"),
}
"""Names of settings, or what they begin with, by the group that they are shown in."""


class SettingInForce(Struct, frozen=True, kw_only=True):
    """A setting with its value.

    Attributes:
        name: As in `Settings`.
        variable: The environment variable that sets it.
        group: What it is about.
        value: JSON-compatible; None for a secret, and for nothing.
        is_set: Whether it has a value; of a secret all that is told.
        origin: `default`, `environment`, or `program`: a flag of the command, or the program that
            opened the board.
        is_overridden: Whether its variable is set to another value.
    """

    name: str
    variable: str
    group: str
    description: str
    value: Any
    is_secret: bool
    is_set: bool
    origin: SettingOrigin
    is_overridden: bool


class BoardSection(Struct, frozen=True, kw_only=True):
    """What a board file sets.

    Attributes:
        name: The key in the file.
        place: `board.yaml:7`.
        entries: How many entries it has; None for what is no list or mapping.
    """

    name: str
    place: str
    entries: int | None


def report_settings(settings: Settings, environment: Mapping[str, str]) -> list[SettingInForce]:
    """All settings by group; the values of secrets are left out."""
    try:
        given = Settings.from_environment(environment)
    except ConfigError:  # the program that opened the board has set others
        given = Settings()
    dumped = settings.model_dump(mode="json")
    found = [
        _report(
            name, settings, given, dumped[name], has_variable=bool(environment.get(_variable(name)))
        )
        for name in Settings.model_fields
    ]
    return sorted(found, key=lambda item: _place_of(item.name))


def list_board_sections(loaded: LoadedBoard) -> list[BoardSection]:
    """What the board file sets, in the order of the file."""
    found: list[BoardSection] = []
    for name in type(loaded.board).model_fields:
        if name not in loaded.board.model_fields_set:
            continue
        value = getattr(loaded.board, name)
        entries = len(value) if isinstance(value, Sized) and not isinstance(value, str) else None
        found.append(BoardSection(name=name, place=loaded.where((name,)), entries=entries))
    return found


def _report(
    name: str, settings: Settings, given: Settings, dumped: Any, *, has_variable: bool
) -> SettingInForce:
    field, value = Settings.model_fields[name], getattr(settings, name)
    is_from_variable = has_variable and getattr(given, name) == value
    is_default = value == field.get_default()
    is_secret = isinstance(value, SecretStr) or SecretStr in getattr(
        field.annotation, "__args__", ()
    )
    return SettingInForce(
        name=name,
        variable=_variable(name),
        group=group_of(name),
        description=field.description or "",
        value=None if is_secret else _hide_password(dumped),
        is_secret=is_secret,
        is_set=value is not None and value != "",
        origin="environment" if is_from_variable else "default" if is_default else "program",
        is_overridden=has_variable and not is_from_variable,
    )


def group_of(name: str) -> str:
    """The group of a setting: that of its own name, else of what its name begins with."""
    return [*_GROUPS][_place_of(name)[0]]


def _place_of(name: str) -> tuple[int, int]:
    """The group and the place in it."""
    places = [
        (entry == name, group, place)
        for group, entries in enumerate(_GROUPS.values())
        for place, entry in enumerate(entries)
        if entry == name or (entry.endswith("_") and name.startswith(entry))
    ]
    _, group, place = max(places, default=(False, 0, len(_GROUPS)))
    return group, place


def _variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"


def _hide_password(value: Any) -> Any:
    """An address without the name and password that may stand in it."""
    if not isinstance(value, str) or "://" not in value:
        return value
    parts = urlsplit(value)
    _, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"***@{host}").geturl() if at else value
