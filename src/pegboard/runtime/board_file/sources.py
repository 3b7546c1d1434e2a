"""Checks the `sources:` section of a board: each entry's kind and configuration."""

from collections.abc import Collection, Sequence
from typing import Any

from pydantic import ValidationError

from pegboard.core.ports.source import SourceKind
from pegboard.core.wire_names import OWNER_MARK, is_source_name
from pegboard.errors import ConfigError, SourceUnavailable
from pegboard.runtime.board_file.load import LoadedBoard, faults_of
from pegboard.runtime.board_file.models import SourceEntry
from pegboard.runtime.plugins import load_kind
from pegboard.runtime.sources.state import Opener, SourceState


def check_sources(loaded: LoadedBoard) -> list[SourceState]:
    """Check the sources of a board file and their configurations.

    A kind whose plug cannot be loaded becomes a failed source; a mistake in the file is an error.

    Raises:
        ConfigError: The file is invalid; one line per mistake.
    """
    states: dict[str, SourceState] = {}
    faults: list[str] = []
    for index, entry in enumerate(loaded.board.sources):
        where = loaded.where(("sources", index))
        name = entry.name or entry.kind
        if not is_source_name(name):
            faults.append(
                f"{where}: '{name}' is not a source name: at most 30 letters, digits, single '_' "
                "and '-'"
            )
            continue
        if not entry.enabled:
            continue
        try:
            found = _states(entry, index, loaded)
        except ConfigError as error:
            faults.append(error.message)
            continue
        for state in found:
            if OWNER_MARK in state.name:
                faults.append(
                    f"{where}: '{state.name}': '{OWNER_MARK}' stands behind the owner of a "
                    "connector; write a single '-'"
                )
            elif state.name in states:
                faults.append(
                    f"{where}: the name '{state.name}' is already used; give this source "
                    "another 'name'"
                )
            else:
                states[state.name] = state
    faults += _unknown_pins(loaded, states)
    if faults:
        raise ConfigError("\n".join(faults))
    return list(states.values())


def _unknown_pins(loaded: LoadedBoard, states: Collection[str]) -> list[str]:
    """A line for each pinning rule about an unknown source."""
    named = {entry.name or entry.kind for entry in loaded.board.sources}
    pinning = loaded.board.pinning
    rules = [("pinning", "sources", name) for name in pinning.sources]
    rules += [("pinning", "new", "sources", name) for name in pinning.new.sources]
    return [
        f"{loaded.where(place)}: the board has no source '{place[-1]}'; "
        f"it has {', '.join(sorted(named | set(states))) or 'none'}"
        for place in rules
        if place[-1] not in named and place[-1] not in states
    ]


def _states(entry: SourceEntry, index: int, loaded: LoadedBoard) -> list[SourceState]:
    """One state, or several for an entry that names many."""
    name = entry.name or entry.kind
    try:
        kind = load_kind(entry.kind)
    except ConfigError as error:
        raise ConfigError(f"{loaded.where(('sources', index, 'kind'))}: {error.message}") from error
    except SourceUnavailable as error:
        return [SourceState(name=name, kind=entry.kind, status="failed", reason=error.message)]
    try:
        config = kind.config.model_validate(entry.config)
    except ValidationError as error:
        file = loaded.path.name if loaded.path else "board"
        place = ("sources", index, "config")
        # what pydantic says may quote a secret, so its error is not kept as the cause
        raise loaded.mask_secrets(
            faults_of(error, kind.config, loaded.located, file, place)
        ) from None
    return [
        SourceState(
            name=item,
            kind=entry.kind,
            title=kind.title,
            opener=Opener(kind=kind, config=own),
        )
        for item, own in _expand(kind, config, entry, index, loaded)
    ]


def _expand(
    kind: SourceKind, config: Any, entry: SourceEntry, index: int, loaded: LoadedBoard
) -> Sequence[tuple[str, Any]]:
    if kind.expand is None:
        return [(entry.name or entry.kind, config)]
    try:
        found = kind.expand(entry.name, config, loaded.base_dir, loaded.environ)
    except ConfigError as error:
        where = loaded.where(("sources", index, "config"))
        raise loaded.mask_secrets(ConfigError(f"{where}: {error.message}")) from error
    return [(name or entry.kind, own) for name, own in found]
