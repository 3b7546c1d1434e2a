"""Reading `board.yaml`: every mistake is reported with its line and what to write instead."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pegboard.access import Policy
from pegboard.core.text.suggestions import did_you_mean
from pegboard.errors import ConfigError
from pegboard.execution.results.redaction import make_redactor
from pegboard.runtime.board_file.models import Board
from pegboard.runtime.secret_values import is_secretive, secret_values
from pegboard.tools.safe_files import read_file
from pegboard.tools.yaml_positions import YamlDocument, read_yaml

Place = Sequence[str | int]
_MAX_SHOWN = 24
MAX_BOARD_BYTES = 8 * 2**20
"""Of a board file."""

_WORDS = {
    "^Input should be ": "should be ",
    "^Value error, ": "",
    "^should be a valid (tuple|list|set|frozenset)$": "should be a list",
    r"^Input tag '(.*)' found using '(\w+)' does not match any of the expected tags: (.*)$": (
        r"'\2' is one of \3, found '\1'"
    ),
    r"^Unable to extract tag using discriminator '(\w+)'$": r"'\1' is missing; write it here",
    r"^(Value|String|Tuple) should have at least 1 (item|character)\b.*": "should not be empty",
    r"^should be a valid dictionary( or instance of \w+)?$": "should be a mapping",
}
"""Pydantic's wording of a fault, and the wording for YAML."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedBoard:
    """A board file as read.

    Attributes:
        base_dir: The folder that its relative paths start from.
        secrets: Values of variables whose names mark them as secret; they are masked everywhere.
        environ: The environment variables that `${NAME}` was filled in from.
        policy: The rules that a program has given instead of those of the file; None for those.
        where: Returns `file:line` of a path in the file.
    """

    board: Board
    base_dir: Path
    secrets: tuple[str, ...] = ()
    located: YamlDocument | None = None
    path: Path | None = None
    environ: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    policy: Policy | None = None

    def mask_secrets(self, error: ConfigError) -> ConfigError:
        """The error without the secrets of this board."""
        return _mask_secrets(error, self.secrets)

    def where(self, place: Place) -> str:
        """`board.yaml:7` for a path, or for its nearest known parent."""
        if self.located is None:
            return "board"
        return f"{self.path.name if self.path else 'board'}:{self.located.line(place)}"


def load_board(path: Path, environment: Mapping[str, str]) -> LoadedBoard:
    """Read and check a board file.

    Raises:
        ConfigError: It is missing, not YAML, or invalid; one line per mistake.
    """
    return parse_board(_read(path), environment, path=path)


def find_variables(path: Path) -> list[str]:
    """The environment variables that a board file needs: those without a default, by name.

    Raises:
        ConfigError: It cannot be read.
    """
    lines = (line for line in _read(path).splitlines() if not line.lstrip().startswith("#"))
    return sorted(
        {match[1] for line in lines for match in _VARIABLE.finditer(line) if match[2] is None}
    )


def _read(path: Path) -> str:
    try:
        return read_file(path, most=MAX_BOARD_BYTES).decode()
    except FileNotFoundError as error:
        raise ConfigError(
            f"There is no board file {path}: write one with 'pegboard init', or name another with "
            "--board."
        ) from error
    except OSError as error:
        raise ConfigError(f"The board file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"The board file {path} cannot be read: save it as UTF-8") from error


def parse_board(text: str, environment: Mapping[str, str], *, path: Path) -> LoadedBoard:
    """Check the text of a board file.

    Raises:
        ConfigError: The file is invalid; one line per mistake.
    """
    located = read_yaml(text, path.name)
    secrets: list[str] = []
    filled = _fill_variables(located.value, environment, secrets, located, (), path)
    if filled is None:
        filled = {}
    if not isinstance(filled, dict):
        raise ConfigError(f"{path.name}:1: a board is a mapping, as in 'sources: [...]'")
    try:
        board = Board.model_validate(filled)
    except ValidationError as error:
        raise _mask_secrets(faults_of(error, Board, located, path.name, ()), secrets) from None
    return LoadedBoard(
        board=board,
        base_dir=path.parent.resolve(),
        secrets=tuple(secrets),
        located=located,
        path=path,
        environ=environment,
    )


def check_env(loaded: LoadedBoard) -> None:
    """Check the values that graphs read as `$.env`.

    A run stores and shows the values it reads, so that no secret may be among them.

    Raises:
        ConfigError: A value is a secret, or its name marks it as one.
    """
    board = loaded.board
    sections = [(("env",), board.env)]
    sections += [(("organisations", it, "env"), own.env) for it, own in board.organisations.items()]
    for path, section in sections:
        for name, value in section.items():
            text = str(value)
            is_secret = any(secret in text for secret in loaded.secrets) or secret_values([text])
            if is_secretive(name) or is_secret:
                raise ConfigError(
                    f"{loaded.where((*path, name))}: '{'.'.join((*path, name))}' looks like a "
                    "secret, and runs show the values they read: configure the secret on the "
                    "source that needs it"
                )


def faults_of(
    error: ValidationError,
    model: type[BaseModel],
    located: YamlDocument | None,
    file: str,
    prefix: Place,
) -> ConfigError:
    """Turn a validation error into one `ConfigError` with a line per mistake."""
    lines: list[str] = []
    for detail in error.errors(include_url=False):
        place = (*prefix, *detail["loc"])
        if located is not None:
            place = _path_in_file(place, located.value, is_missing=detail["type"] == "missing")
        where = f"{file}:{located.line(place)}: " if located is not None else ""
        value = detail["input"]
        found = "" if value and _is_hidden(place, located) else _show_value(value)
        lines.append(f"{where}{_format_path(place)}: {_advice(detail, model, found)}")
    return ConfigError("\n".join(lines))


def _is_hidden(place: Place, located: YamlDocument | None) -> bool:
    """Whether a value may be secret: its key says so, or it comes from a variable.

    Masking known secrets in the message is not enough: they may be quoted in another form there,
    with line breaks escaped for example.
    """
    if is_secretive(next((step for step in reversed(place) if isinstance(step, str)), "")):
        return True
    written = None if located is None else located.value
    for step in place:
        if not _has(written, step):
            break
        written = cast("Any", written)[step]
    return isinstance(written, str) and "${" in written


def _path_in_file(place: Place, value: Any, *, is_missing: bool) -> Place:
    """The path as it is in the file, without the steps that only the model knows.

    Those are the tag of a union's member, and the index of a single value that stands for a list.
    """
    steps: list[str | int] = []
    for number, step in enumerate(place, start=1):
        is_there = _has(value, step)
        if is_there or (number == len(place) and (is_missing or isinstance(step, str))):
            steps.append(step)
        if is_there:
            value = value[step]
    return steps


def _has(value: Any, step: str | int) -> bool:
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < len(cast("Any", value))


def _mask_secrets(error: ConfigError, secrets: Sequence[str]) -> ConfigError:
    mask = make_redactor(tuple(secrets))
    return error if mask is None else ConfigError(mask(error.message))


def _advice(detail: ErrorDetails, model: type[BaseModel], found: str) -> str:
    if detail["type"] == "extra_forbidden":
        known = _list_fields(model, detail["loc"][:-1])
        there = f"known are {', '.join(known)}"
        if detail["loc"][:1] == ("sources",) and "config" in known:
            there += "; settings of a source kind belong under 'config'"
        return f"unknown key; {did_you_mean(str(detail['loc'][-1]), known, otherwise=there)}"
    if detail["type"] == "missing":
        return "missing; write it here"
    message = detail["msg"]
    for words, ours in _WORDS.items():
        message = re.sub(words, ours, message)
    is_text = isinstance(detail["input"], str)
    if message == "should be a list" and is_text and found and _takes_text(model, detail["loc"]):
        found += f"; write [{detail['input']!r}]"
    return f"{message[:1].lower()}{message[1:]}{found}"


def _show_value(value: Any) -> str:
    """The value that was found, unless it is long or an address, which may hold a secret."""
    if isinstance(value, (int, float)) or value is None:
        return f", found {value!r}"
    if isinstance(value, str) and len(value) <= _MAX_SHOWN and "://" not in value:
        return f", found {value!r}"
    return ""


def _takes_text(model: type[BaseModel], place: Place) -> bool:
    """Whether what is listed at this place is text, rather than mappings for example."""
    node, definitions = _find_schema(model, place)
    return _resolve(node.get("items", {}), definitions).get("type") == "string"


def _list_fields(model: type[BaseModel], place: Place) -> list[str]:
    node, _ = _find_schema(model, place)
    return list(node.get("properties", {}))


def _find_schema(model: type[BaseModel], place: Place) -> tuple[Any, Mapping[str, Any]]:
    """The JSON Schema of a place, and the definitions that it refers to."""
    schema: Any = model.model_json_schema()
    definitions = schema.get("$defs", {})
    node: Any = schema
    for step in place:
        node = _resolve(node, definitions)
        members = node.get("discriminator", {}).get("mapping", {})
        if step in members:
            node = {"$ref": members[step]}
        elif isinstance(step, int):
            node = node.get("items", {})
        else:
            node = node.get("properties", {}).get(step) or node.get("additionalProperties", {})
    return _resolve(node, definitions), definitions


def _resolve(node: Any, definitions: Mapping[str, Any]) -> Any:
    if not isinstance(node, dict):
        return {}
    here = cast("dict[str, Any]", node)
    if "$ref" in here:
        return definitions.get(str(here["$ref"]).rpartition("/")[2], {})
    for key in ("allOf", "anyOf"):
        if key in here:
            return _resolve(here[key][0], definitions)
    return here


def _format_path(place: Place) -> str:
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text or "board"


def _fill_variables(
    value: Any,
    environment: Mapping[str, str],
    secrets: list[str],
    located: YamlDocument,
    place: Place,
    path: Path,
) -> Any:
    """Replace `${NAME}` and `${NAME:-default}` in a value from the environment."""
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {
            str(key): _fill_variables(item, environment, secrets, located, (*place, str(key)), path)
            for key, item in items
        }
    if isinstance(value, list):
        return [
            _fill_variables(item, environment, secrets, located, (*place, index), path)
            for index, item in enumerate(cast("list[Any]", value))
        ]
    if not isinstance(value, str) or "${" not in value:
        return value

    def replace(match: re.Match[str]) -> str:
        name, default = match.group(1), match.group(2)
        found = environment.get(name)
        if found is not None:
            if is_secretive(name):
                secrets.append(found)
            return found
        if default is not None:
            return default
        raise ConfigError(
            f"{path.name}:{located.line(place)}: {_format_path(place)}: the variable {name} is not "
            f"set; set it, or write ${{{name}:-default}}"
        )

    return _VARIABLE.sub(replace, value)
