"""YAML with the line of every path in it: board files, plan files and descriptions of scripts.

It is read by the core schema, a superset of JSON, which has no dates, no `yes` for true and no
sexagesimal numbers.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from pegboard.errors import ConfigError

if TYPE_CHECKING:
    import yaml

MAX_NODES = 100_000
MAX_DEPTH = 60
_MAX_BITS = 13_000
"""Of a whole number, so that it can be written in decimal."""

Path = Sequence[str | int]
_TAG = "tag:yaml.org,2002:"
_KINDS = frozenset({"str", "int", "float", "bool", "null"})
_MAX_SHOWN = 40

_FLOAT = r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?"
_CORE_SCHEMA = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
    ("merge", r"<<", "<"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlDocument:
    """A parsed document and the line of every path in it.

    Attributes:
        value: The data; None for an empty document.
        file: What messages call the file.
        lines: The line of each path, counted from 1; empty for data that is in no file.
    """

    value: Any
    file: str
    lines: Mapping[tuple[str | int, ...], int] = field(
        default_factory=dict[tuple[str | int, ...], int]
    )

    def line(self, path: Path) -> int:
        """The line of a path, or of its nearest known parent."""
        steps = tuple(path)
        while steps and steps not in self.lines:
            steps = steps[:-1]
        return self.lines.get(steps, 1)

    def at(self, path: Path) -> str:
        """`file:line` of a path, or of its nearest known parent."""
        return f"{self.file}:{self.line(path)}" if self.lines else self.file


def read_yaml(
    text: str, file: str, *, first_line: int = 1, max_nodes: int = MAX_NODES
) -> YamlDocument:
    """Parse one YAML document.

    The document is read by YAML's core schema, as JSON: text, numbers, true, false and null. Every
    key is text, and no mapping may have a key twice.

    Args:
        text: The document.
        file: What messages call the file.
        first_line: The line of the file in which the text begins.
        max_nodes: Most nodes in the document, each alias counted with all that it stands for.

    Raises:
        ConfigError: It is not YAML, has a key twice, or is too large or too deep; names the line.
    """
    import yaml

    try:
        deep = find_too_deep(text, MAX_DEPTH)
        if deep is not None:
            raise _too_large(f"{file}:{deep + first_line}")
        root: Any = yaml.compose(text, Loader=core_loader())
        reader = _Reader(file, first_line, max_nodes)
        value = None if root is None else reader.read(root, ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        # libyaml counts the end of a text without a last line break as a line of its own
        end = text.count("\n")
        line = end if mark is None else min(mark.line, end)
        if isinstance(error, yaml.reader.ReaderError):
            line = text.count("\n", 0, error.position)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        if "\t" in _read_indent(text, line):
            problem = "the line is indented with a tab; use spaces"
        raise ConfigError(f"{file}:{line + first_line}: not valid YAML: {problem}") from error
    return YamlDocument(value=value, file=file, lines={(): first_line, **reader.lines})


def _read_indent(text: str, line: int) -> str:
    """The white space before the first character of a 0-based line."""
    found = "".join(text.split("\n")[line : line + 1])
    return found[: len(found) - len(found.lstrip())]


def find_too_deep(text: str, max_depth: int) -> int | None:
    """The line, from 0, where a document is nested deeper than this; None when it never is.

    libyaml composes a document on the C stack: without this check, one that is nested too deep
    ends the process.

    Raises:
        YAMLError: It is not YAML.
    """
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > max_depth:
                mark: Any = event.start_mark
                return mark.line
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return None


@cache
def core_loader() -> "type[yaml.CSafeLoader]":
    """The loader of the core schema, for `yaml.compose` and others."""
    import yaml

    # a class of its own, so that the resolvers of other users of PyYAML do not change
    made: Any = type("Loader", (yaml.CSafeLoader,), {"yaml_implicit_resolvers": {}})
    for tag, pattern, first in _CORE_SCHEMA:
        _add_resolver(made, tag, pattern, first)
    return made


def dump_yaml(value: Any, **options: Any) -> str:
    """Write a value so that the core schema and YAML 1.1 both read it as it is."""
    import yaml

    return str(yaml.dump(value, Dumper=_dumper(), **options))  # pyright: ignore[reportUnknownArgumentType]  # the stubs leave it open


@cache
def _dumper() -> "type[yaml.SafeDumper]":
    import yaml

    made: Any = type("Dumper", (yaml.SafeDumper,), {})
    _add_resolver(made, "float", _FLOAT, "-+.0123456789")  # `1e3` is a text in YAML 1.1
    return made


def _add_resolver(made: Any, tag: str, pattern: str, first: Any) -> None:
    made.add_implicit_resolver(
        f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first)
    )


class _Reader:
    """Builds values from nodes; an alias counts each time, so that a bomb reaches the limit."""

    def __init__(self, file: str, first_line: int, max_nodes: int) -> None:
        from yaml.constructor import SafeConstructor

        self.lines: dict[tuple[str | int, ...], int] = {}
        self._file = file
        self._first_line = first_line
        self._max_nodes = max_nodes
        self._nodes = 0
        self._scalars = SafeConstructor()

    def read(self, node: Any, path: tuple[str | int, ...]) -> Any:
        import yaml

        self._nodes += 1
        if self._nodes > self._max_nodes or len(path) > MAX_DEPTH:
            raise _too_large(self._where(node))
        self.lines.setdefault(path, node.start_mark.line + self._first_line)
        kind = "map" if isinstance(node, yaml.MappingNode) else "seq"
        if not isinstance(node, yaml.ScalarNode) and node.tag != f"{_TAG}{kind}":
            raise _error(node, f"the type '{node.tag}' is not read; write a list or a mapping")
        if isinstance(node, yaml.MappingNode):
            return self._read_mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            items: list[yaml.Node] = node.value
            return [self.read(item, (*path, index)) for index, item in enumerate(items)]
        return self._read_scalar(node)

    def _read_scalar(self, node: Any) -> Any:
        kind: str = node.tag.removeprefix(_TAG)
        if kind == "merge":
            return node.value
        if kind not in _KINDS:
            raise _error(node, f"the type '{node.tag}' is not read; write text or a number")
        try:
            value: Any = self._scalars.construct_object(node)  # pyright: ignore[reportUnknownMemberType]  # the stubs leave it open
            is_bounded = not isinstance(value, int) or value.bit_length() <= _MAX_BITS
            if is_bounded and (not isinstance(value, float) or math.isfinite(value)):
                return value
        except (ValueError, LookupError, AttributeError):  # PyYAML, for `!!int ''` and others
            pass
        shown = node.value if len(node.value) <= _MAX_SHOWN else f"{node.value[:_MAX_SHOWN]}..."
        raise _error(node, f"'{shown}' is not a valid {kind}")

    def _read_mapping(self, node: Any, path: tuple[str | int, ...]) -> dict[str, Any]:
        import yaml

        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise ConfigError(f"{self._where(key_node)}: a key must be plain text")
            key = key_node.value
            if key_node.tag == f"{_TAG}merge":
                raise ConfigError(f"{self._where(key_node)}: '<<' is not read; write the keys here")
            if key in result:
                raise ConfigError(f"{self._where(key_node)}: the key '{key}' stands here twice")
            self.lines[*path, key] = key_node.start_mark.line + self._first_line
            result[key] = self.read(value_node, (*path, key))
        return result

    def _where(self, node: Any) -> str:
        return f"{self._file}:{node.start_mark.line + self._first_line}"


def _error(node: Any, problem: str) -> Exception:
    import yaml

    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _too_large(where: str) -> ConfigError:
    return ConfigError(f"{where}: the document is too large or too deep")
