"""Comment blocks in a script: `# /// tool`, a description, and `# /// script` of PEP 723."""

import re
from dataclasses import dataclass

from pegboard.errors import SourceUnavailable

_OPENS = re.compile(r"(#|//|--|;|%) /// ([a-zA-Z0-9-]+)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The text of one block.

    Attributes:
        line: The number of its first line of text in the file, from 1.
    """

    text: str
    line: int


def find_block(source: str, kind: str, *, file: str) -> Block | None:
    """Find the block of a kind; None when there is none.

    Args:
        source: The text of the script.
        kind: `tool` or `script`.
        file: The script in messages.

    Raises:
        SourceUnavailable: There are two blocks, or one has no end; names the line.
    """
    lines = source.splitlines()
    found: Block | None = None
    for number, line in enumerate(lines, start=1):
        opened = _OPENS.fullmatch(line)
        if opened is None or opened[2] != kind:
            continue
        if found is not None:
            raise SourceUnavailable(f"{file}:{number}: there is another '/// {kind}' block above")
        found = _read(lines, number, opened[1], kind=kind, file=file)
    return found


def _read(lines: list[str], start: int, prefix: str, *, kind: str, file: str) -> Block:
    text: list[str] = []
    for line in lines[start:]:
        if line.rstrip() == f"{prefix} ///":
            return Block(text="\n".join(text), line=start + 1)
        if line.rstrip() != prefix and not line.startswith(f"{prefix} "):
            break
        text.append(line[len(prefix) + 1 :])
    raise SourceUnavailable(
        f"{file}:{start}: the '/// {kind}' block does not end: "
        f"each line begins with '{prefix}', the last one is '{prefix} ///'"
    )
