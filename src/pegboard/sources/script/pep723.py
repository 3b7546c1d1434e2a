"""Reads the dependencies of a Python script: the `# /// script` block of PEP 723."""

import hashlib
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pegboard.errors import SourceUnavailable
from pegboard.sources.script.comment_blocks import find_block


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """Packages and Python version.

    Attributes:
        packages: Requirements as pip reads them.
        requires_python: A version specifier; empty for any.
    """

    packages: tuple[str, ...] = ()
    requires_python: str = ""

    @property
    def digest(self) -> str:
        """A key by which scripts with the same dependencies share an environment."""
        said = json.dumps([sorted(self.packages), self.requires_python])
        return hashlib.sha256(said.encode()).hexdigest()[:32]


def read_dependencies(head: str, *, file: str) -> Dependencies | None:
    """Read the dependencies of a block; None when there is no block, or it names none.

    Raises:
        SourceUnavailable: The block is malformed; names the line.
    """
    block = find_block(head, "script", file=file)
    if block is None:
        return None
    where = f"{file}:{block.line}"
    try:
        data = tomllib.loads(block.text)
    except tomllib.TOMLDecodeError as error:
        raise SourceUnavailable(f"{where}: the '/// script' block is not TOML: {error}") from error
    packages, python = data.get("dependencies", []), data.get("requires-python", "")
    if not _are_texts(packages) or not isinstance(python, str):
        raise SourceUnavailable(
            f"{where}: 'dependencies' is a list of texts, 'requires-python' a text"
        )
    odd = [item for item in packages if item.lstrip().startswith("-")]
    if odd:
        raise SourceUnavailable(f"{where}: '{odd[0]}' is an option, not a dependency")
    if not packages and not python:
        return None
    return Dependencies(packages=tuple(packages), requires_python=python)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) for item in cast("Sequence[object]", value)
    )
