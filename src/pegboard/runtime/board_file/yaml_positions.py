"""YAML with the line of every place; safe types only, bounded, and no key twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from pegboard.errors import ConfigError

Place = Sequence[str | int]
_MOST_NODES = 100_000
_DEEPEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A parsed file and where things stand in it."""

    value: Any
    lines: dict[tuple[str | int, ...], int] = field(
        default_factory=dict[tuple[str | int, ...], int]
    )

    def line(self, place: Place) -> int:
        """The line of a place, or of the nearest thing around it."""
        steps = tuple(place)
        while steps and steps not in self.lines:
            steps = steps[:-1]
        return self.lines.get(steps, 1)


def load_yaml(text: str, file: str) -> Located:
    """Parse one YAML document.

    Raises:
        ConfigError: It is not YAML, has a key twice, or is a bomb.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is None:
            return Located(value=None)
        reader = _Reader(file)
        value = reader.read(root, (), 0)
        return Located(value=value, lines=reader.lines)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}:{mark.line + 1}" if mark is not None else file
        problem = getattr(error, "problem", None) or str(error)
        raise ConfigError(f"{where}: not valid YAML: {problem}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: not valid YAML: {error}") from error


class _Reader:
    """Turns nodes into values; aliases count each time, so that a bomb hits the bound."""

    def __init__(self, file: str) -> None:
        self.lines: dict[tuple[str | int, ...], int] = {}
        self._file = file
        self._nodes = 0
        self._scalars = yaml.constructor.SafeConstructor()

    def read(self, node: yaml.Node, place: tuple[str | int, ...], depth: int) -> Any:
        self._nodes += 1
        line = node.start_mark.line + 1
        if self._nodes > _MOST_NODES or depth > _DEEPEST:
            raise ConfigError(f"{self._file}:{line}: the file is too large or too deep")
        self.lines.setdefault(place, line)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place, depth)
        if isinstance(node, yaml.SequenceNode):
            items: list[yaml.Node] = node.value
            return [self.read(item, (*place, i), depth + 1) for i, item in enumerate(items)]
        return self._scalars.construct_object(node)  # pyright: ignore[reportUnknownMemberType]  # the stubs leave it open

    def _mapping(
        self, node: yaml.MappingNode, place: tuple[str | int, ...], depth: int
    ) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        pairs: list[tuple[yaml.Node, yaml.Node]] = node.value
        for key_node, value_node in pairs:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise ConfigError(f"{self._file}:{line}: a key must be plain text")
            key = key_node.value
            if key in result:
                raise ConfigError(f"{self._file}:{line}: the key '{key}' stands here twice")
            here = (*place, key)
            result[key] = self.read(value_node, here, depth + 1)
            self.lines[here] = line
        return result
