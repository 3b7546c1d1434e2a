"""Plan files and parameters, as `pegboard plan` and `pegboard run` take them."""

import json
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from pegboard.errors import InvalidRequest

MAX_BYTES = 10_000_000
_SUFFIXES = (".json", ".yaml", ".yml")


def is_plan_file(named: str) -> bool:
    """Whether an argument names a plan file, rather than a goal or a plan's id."""
    path = Path(named)
    if path.suffix in _SUFFIXES:
        return True
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a NUL: no file has such a name
        return False


def read_plan_file(named: str) -> dict[str, Any]:
    """Read a plan file.

    Raises:
        InvalidRequest: It cannot be read, or is not a JSON or YAML object.
        ConfigError: It is not YAML; the message names the line.
    """
    from pegboard.tools.safe_files import read_file

    path = Path(named)
    try:
        text = read_file(path, most=MAX_BYTES).decode()
    except FileNotFoundError as error:
        raise InvalidRequest(f"There is no file {named}.") from error
    except OSError as error:
        raise InvalidRequest(f"{named} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{named} cannot be read: it is not UTF-8") from error
    found: Any = _json(text, named) if path.suffix == ".json" else _yaml(text, named)
    if not isinstance(found, dict):
        raise InvalidRequest(f"{named} is not a plan: it is not an object.")
    return found  # pyright: ignore[reportUnknownVariableType] - any object; reading it as a graph says what is wrong with it


def refuse_extra_arguments(texts: Sequence[str]) -> None:
    """Refuse what stands behind a goal or a plan, and say what to write.

    Raises:
        InvalidRequest: There is something.
    """
    if texts and all("=" in text.lstrip("=") for text in texts):
        written = " ".join(f"--param {quote(text)}" for text in texts)
        raise InvalidRequest(f"parameters of a plan need --param; did you mean '{written}'?")
    if texts:
        raise InvalidRequest(
            f"one goal or plan is expected, and there is more: '{' '.join(texts)}'; several steps "
            "are written as -c CAPABILITY -c CAPABILITY, parameters as --param name=value"
        )


def _json(text: str, named: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{named} is not JSON: {error}") from error


def _yaml(text: str, named: str) -> Any:
    from pegboard.tools.yaml_positions import read_yaml

    return read_yaml(text, named).value
