"""YAML that knows in which line of which file each of its places stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.errors import SourceUnavailable

_MOST_NODES = 20_000
_DEEPEST = 60

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A parsed description.

    Attributes:
        file: What a message calls the file.
        lines: The line of each place, from 1.
    """

    value: Any
    file: str
    lines: Mapping[Place, int] = field(default_factory=dict[Place, int])

    def at(self, place: Sequence[str | int]) -> str:
        """`file:line` of a place, or of the nearest thing around it."""
        steps = tuple(place)
        while steps and steps not in self.lines:
            steps = steps[:-1]
        line = self.lines.get(steps)
        return self.file if line is None else f"{self.file}:{line}"


def read_yaml(text: str, file: str, *, first_line: int = 1) -> Located:
    """Parse a description.

    Args:
        text: One YAML document.
        file: What a message calls the file.
        first_line: The line of the file in which the text begins.

    Raises:
        SourceUnavailable: It is not YAML, has a key twice, or is a bomb; names the line.
    """
    import yaml

    reader = _Reader(file, first_line)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        value = None if root is None else reader.read(root, ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = file if mark is None else f"{file}:{mark.line + first_line}"
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise SourceUnavailable(f"{where}: not valid YAML: {problem}") from error
    except (ValueError, RecursionError) as error:
        raise SourceUnavailable(f"{file}: not valid YAML: {error}") from error
    return Located(value=value, file=file, lines={(): first_line, **reader.lines})


class _Reader:
    """Nodes to values; aliases count each time, so that a bomb hits the bound."""

    def __init__(self, file: str, first_line: int) -> None:
        import yaml

        self.lines: dict[Place, int] = {}
        self._file = file
        self._first = first_line
        self._nodes = 0
        self._scalars = yaml.constructor.SafeConstructor()

    def read(self, node: Any, place: Place) -> Any:
        import yaml

        self._nodes += 1
        line = node.start_mark.line + self._first
        if self._nodes > _MOST_NODES or len(place) > _DEEPEST:
            raise SourceUnavailable(f"{self._file}:{line}: the description is too large")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode):
            items: list[yaml.Node] = node.value
            for index, item in enumerate(items):
                self.lines[*place, index] = item.start_mark.line + self._first
            return [self.read(item, (*place, index)) for index, item in enumerate(items)]
        return self._scalars.construct_object(node)  # pyright: ignore[reportUnknownMemberType]  # the stubs leave it open

    def _mapping(self, node: Any, place: Place) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + self._first
            # a number is a key too: exit codes are
            key = self.read(key_node, place)
            if isinstance(key, (dict, list)):
                raise SourceUnavailable(f"{self._file}:{line}: a key must be plain text")
            if key in result:
                raise SourceUnavailable(f"{self._file}:{line}: the key '{key}' stands here twice")
            self.lines[*place, key] = line
            result[key] = self.read(value_node, (*place, key))
        return result
