"""Plans and graphs in files, as `pegboard plan` and `pegboard run` are given them."""

import json
from pathlib import Path
from typing import Any

from pegboard.errors import InvalidRequest

MOST_BYTES = 10_000_000
_SUFFIXES = (".json", ".yaml", ".yml")


def is_plan_file(named: str) -> bool:
    """Whether this names a file, and not a goal or the id of a plan."""
    path = Path(named)
    if path.suffix in _SUFFIXES:
        return True
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a NUL: no file has such a name
        return False


def read_plan_file(named: str) -> dict[str, Any]:
    """What a file says.

    Raises:
        InvalidRequest: It cannot be read, or holds no JSON or YAML object.
        ConfigError: It is no YAML; says where.
    """
    from pegboard.tools.safe_files import read_file

    path = Path(named)
    try:
        text = read_file(path, most=MOST_BYTES).decode()
    except FileNotFoundError as error:
        raise InvalidRequest(f"There is no file {named}.") from error
    except OSError as error:
        raise InvalidRequest(f"{named} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{named} cannot be read: it is not UTF-8") from error
    found: Any = _json(text, named) if path.suffix == ".json" else _yaml(text, named)
    if not isinstance(found, dict):
        raise InvalidRequest(f"{named} holds no plan: it is no object.")
    return found  # pyright: ignore[reportUnknownVariableType] - any object; reading it as a graph says what is wrong with it


def _json(text: str, named: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{named} is no JSON: {error}") from error


def _yaml(text: str, named: str) -> Any:
    from pegboard.runtime.board_file.yaml_positions import load_yaml

    return load_yaml(text, named).value
