"""The `sources:` section of a board, checked: each entry its kind, and its configuration."""

from pydantic import ValidationError

from pegboard.core.names import is_source_name
from pegboard.errors import ConfigError, SourceUnavailable
from pegboard.runtime.board import SourceEntry
from pegboard.runtime.board_file import LoadedBoard, faults_of
from pegboard.runtime.kinds import load_kind
from pegboard.runtime.source_set import Opener, SourceState


def checked(loaded: LoadedBoard) -> list[SourceState]:
    """The sources that a board names, their configurations checked.

    A kind whose plug cannot be loaded makes a failed source; what the file says wrongly is an
    error.

    Raises:
        ConfigError: One line a mistake.
    """
    states: dict[str, SourceState] = {}
    faults: list[str] = []
    for index, entry in enumerate(loaded.board.sources):
        name = entry.name or entry.kind
        where = loaded.where(("sources", index))
        if not is_source_name(name):
            faults.append(
                f"{where}: '{name}' is not a source name: at most 30 letters, digits, single '_' "
                "and '-'"
            )
        elif name in states:
            faults.append(f"{where}: the name '{name}' is taken; give this source another 'name'")
        elif entry.enabled:
            try:
                states[name] = _state(name, entry, index, loaded)
            except ConfigError as error:
                faults.append(error.message)
    if faults:
        raise ConfigError("\n".join(faults))
    return list(states.values())


def _state(name: str, entry: SourceEntry, index: int, loaded: LoadedBoard) -> SourceState:
    try:
        kind = load_kind(entry.kind)
    except ConfigError as error:
        raise ConfigError(f"{loaded.where(('sources', index, 'kind'))}: {error.message}") from error
    except SourceUnavailable as error:
        return SourceState(name=name, kind=entry.kind, status="failed", reason=error.message)
    try:
        config = kind.config.model_validate(entry.config)
    except ValidationError as error:
        file = loaded.path.name if loaded.path else "board"
        place = ("sources", index, "config")
        # what pydantic says may quote a secret, so its error is not kept as the cause
        raise loaded.masked(faults_of(error, kind.config, loaded.located, file, place)) from None
    opener = Opener(kind=kind, config=config)
    return SourceState(name=name, kind=entry.kind, title=kind.title, opener=opener)
