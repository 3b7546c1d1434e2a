"""YAML with the line of every path in it: board files, plan files and descriptions of scripts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.errors import ConfigError

MAX_NODES = 100_000
MAX_DEPTH = 60

Path = Sequence[str | int]


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

    Only plain types are built, every key is text, and no mapping may have a key twice.

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
        root: Any = yaml.compose(text, Loader=yaml.CSafeLoader)
        reader = _Reader(file, first_line, max_nodes)
        value = None if root is None else reader.read(root, ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        # libyaml counts the end of a text without a last line break as a line of its own
        line = None if mark is None else min(mark.line, text.count("\n")) + first_line
        where = file if line is None else f"{file}:{line}"
        problem = getattr(error, "problem", None) or str(error)
        raise ConfigError(f"{where}: not valid YAML: {problem}") from error
    except ValueError as error:
        raise ConfigError(f"{file}: not valid YAML: {error}") from error
    return YamlDocument(value=value, file=file, lines={(): first_line, **reader.lines})


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
        if isinstance(node, yaml.MappingNode):
            return self._read_mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            items: list[yaml.Node] = node.value
            return [self.read(item, (*path, index)) for index, item in enumerate(items)]
        try:
            return self._scalars.construct_object(node)  # pyright: ignore[reportUnknownMemberType]  # the stubs leave it open
        except (IndexError, KeyError, AttributeError) as error:  # PyYAML, for `!!int ''` and others
            reason = f"'{node.value}' is not a valid {node.tag.rpartition(':')[2]}"
            raise yaml.MarkedYAMLError(problem=reason, problem_mark=node.start_mark) from error

    def _read_mapping(self, node: Any, path: tuple[str | int, ...]) -> dict[str, Any]:
        import yaml

        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise ConfigError(f"{self._where(key_node)}: a key must be plain text")
            key = key_node.value
            if key in result:
                raise ConfigError(f"{self._where(key_node)}: the key '{key}' stands here twice")
            self.lines[*path, key] = key_node.start_mark.line + self._first_line
            result[key] = self.read(value_node, (*path, key))
        return result

    def _where(self, node: Any) -> str:
        return f"{self._file}:{node.start_mark.line + self._first_line}"


def _too_large(where: str) -> ConfigError:
    return ConfigError(f"{where}: the document is too large or too deep")
