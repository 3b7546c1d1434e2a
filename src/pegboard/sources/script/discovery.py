"""Finds the scripts of a source and the description of each."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pegboard.core.wire_names import is_glob
from pegboard.errors import SourceUnavailable
from pegboard.sources.script.comment_blocks import find_block
from pegboard.sources.script.config import ScriptConfig
from pegboard.sources.script.description import Description, parse_document, read_description
from pegboard.sources.script.interpreters import EXTENSIONS
from pegboard.tools.safe_files import read_file, read_start
from pegboard.tools.yaml_positions import YamlDocument

SIDECAR = ".tool.yaml"
_HEAD = 256 * 1024
_MAX_SIDECAR_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One entry of the list.

    Attributes:
        stem: Its name, unless the description has one.
        path: The file; None for a description that has only a command.
        head: The start of the file, as text.
        description: None when it has no valid one.
        fault: Why it cannot be used; empty when it can.
    """

    stem: str
    path: Path | None
    head: str = ""
    description: Description | None = None
    fault: str = ""


def find_scripts(config: ScriptConfig, base_dir: Path) -> list[Script]:
    """Find all scripts of a configuration, in order; an invalid one has its fault.

    Raises:
        SourceUnavailable: A folder does not exist, or nothing matches a glob.
    """
    given = {(base_dir / key).resolve(): value for key, value in config.descriptions.items()}
    scripts: dict[Path | str, Script] = {}
    for pattern in config.paths:
        for path in _find_named(pattern, base_dir):
            if isinstance(path, Script):
                scripts.setdefault(path.stem, path)
                continue
            script = _read(path, given)
            scripts.setdefault(script.path or path, script)
    return list(scripts.values())


def list_files(config: ScriptConfig, base_dir: Path) -> list[Path]:
    """The files that a configuration names, their descriptions, and the contents of its folders."""
    found: list[Path] = []
    for pattern in config.paths:
        if is_glob(pattern):
            found += _glob(pattern, base_dir)
            continue
        path = base_dir / pattern
        found += path.iterdir() if path.is_dir() else [path]
    sidecars = [path.with_name(name) for path in found for name in _sidecar_names(path)]
    return [*found, *sidecars]


def _glob(pattern: str, base_dir: Path) -> list[Path]:
    start = Path(pattern).anchor
    root = Path(start) if start else base_dir
    return sorted(root.glob(pattern.removeprefix(start)))


def _find_named(pattern: str, base_dir: Path) -> Iterator[Path | Script]:
    """The files of one entry of `paths`."""
    if is_glob(pattern):
        found = _glob(pattern, base_dir)
        if not found:
            raise SourceUnavailable(f"'paths': nothing matches '{pattern}'")
        yield from (path for path in found if path.is_file())
        return
    path = base_dir / pattern
    if path.is_dir():
        yield from _in_folder(path)
    elif path.is_file():
        yield path
    elif path.exists():
        fault = f"'{pattern}' is a device, a pipe or a socket, not a script"
        yield Script(stem=path.stem, path=None, fault=fault)
    elif path.suffix:
        fault = f"there is no file or folder '{pattern}' in the board's folder"
        yield Script(stem=path.stem, path=None, fault=fault)
    else:
        raise SourceUnavailable(f"'paths': there is no folder '{pattern}' in the board's folder")


def _in_folder(folder: Path) -> Iterator[Path]:
    """The files that are described or look like programs; no modules, data and hidden files."""
    entries = sorted(entry for entry in folder.iterdir() if entry.is_file())
    names = {entry.name for entry in entries}
    for entry in entries:
        if entry.name.startswith((".", "_")):
            continue
        is_described = entry.name.endswith(SIDECAR) or bool(names & set(_sidecar_names(entry)))
        if is_described or os.access(entry, os.X_OK) or _says_it_runs(entry):
            yield entry


def _says_it_runs(path: Path) -> bool:
    try:
        head = _head(path)
        is_described = find_block(head, "tool", file=path.name) is not None
    except (SourceUnavailable, OSError):
        return True  # listed, with the reason
    return head.startswith("#!") or is_described


def _read(path: Path, given: Mapping[Path, Mapping[str, Any]]) -> Script:
    if path.name.endswith(SIDECAR):
        return _of_sidecar(path)
    head = ""
    try:
        head = _head(path)
        located = _read_description(path, head, given)
        return Script(
            stem=path.stem, path=path.resolve(), head=head, description=read_description(located)
        )
    except SourceUnavailable as error:
        return Script(stem=path.stem, path=path.resolve(), head=head, fault=error.message)
    except OSError as error:
        return Script(stem=path.stem, path=path.resolve(), fault=_unreadable(path, error))


def _read_description(
    path: Path, head: str, given: Mapping[Path, Mapping[str, Any]]
) -> YamlDocument:
    """Read the description of a script.

    Raises:
        SourceUnavailable: It has none, or two.
    """
    sidecars = [path.with_name(name) for name in _sidecar_names(path)]
    sidecars = [sidecar for sidecar in sidecars if sidecar.is_file()]
    block = find_block(head, "tool", file=path.name)
    places = [sidecar.name for sidecar in sidecars] + ["its '/// tool' block"] * bool(block)
    if len(places) > 1:
        raise SourceUnavailable(
            f"'{path.name}' has two descriptions, {places[0]} and {places[1]}: keep one"
        )
    if block is not None:
        return parse_document(block.text, path.name, first_line=block.line)
    if sidecars:
        if len(beside := _find_described(sidecars[0])) > 1:
            raise SourceUnavailable(
                f"{sidecars[0].name} may mean {beside[0].name} or {beside[1].name}: "
                f"call it {beside[0].name}{SIDECAR}"
            )
        return parse_document(_text(sidecars[0], _MAX_SIDECAR_BYTES), sidecars[0].name)
    if path.resolve() in given:
        return YamlDocument(value=given[path.resolve()], file=f"descriptions of {path.name}")
    raise SourceUnavailable(
        f"'{path.name}' has no description: write {path.name}{SIDECAR} beside it, "
        "or a '# /// tool' block into it"
    )


def _of_sidecar(sidecar: Path) -> Script:
    """The script that a sidecar describes: the file beside it, or a command."""
    name = sidecar.name.removesuffix(SIDECAR)
    try:
        beside = _find_described(sidecar)
        if beside:
            return _read(beside[0], {})
        description = read_description(
            parse_document(_text(sidecar, _MAX_SIDECAR_BYTES), sidecar.name)
        )
    except SourceUnavailable as error:
        return Script(stem=name, path=None, fault=error.message)
    except OSError as error:
        return Script(stem=name, path=None, fault=_unreadable(sidecar, error))
    if not description.command:
        fault = (
            f"{sidecar.name} describes '{name}', which is not beside it; put it there, or write "
            "the program into 'command'"
        )
        return Script(stem=name, path=None, fault=fault)
    return Script(stem=name, path=None, description=description)


def _find_described(sidecar: Path) -> list[Path]:
    return [
        entry
        for entry in sorted(sidecar.parent.iterdir())
        if entry.is_file() and sidecar.name in _sidecar_names(entry)
    ]


def _sidecar_names(path: Path) -> tuple[str, ...]:
    """`count.py.tool.yaml`, and `count.tool.yaml` for a known extension."""
    if path.name.endswith(SIDECAR):
        return ()
    names = [f"{path.name}{SIDECAR}"]
    if path.suffix in EXTENSIONS:
        names.append(f"{path.stem}{SIDECAR}")
    return tuple(names)


def _head(path: Path) -> str:
    return read_start(path, most=_HEAD).decode("utf-8", "replace")


def _text(path: Path, most: int) -> str:
    try:
        return read_file(path, most=most).decode("utf-8")
    except OSError as error:
        raise SourceUnavailable(_unreadable(path, error)) from error
    except UnicodeDecodeError as error:
        raise SourceUnavailable(f"{path.name} is not UTF-8") from error


def _unreadable(path: Path, error: OSError) -> str:
    return f"'{path.name}' cannot be read: {error.strerror or type(error).__name__}"
