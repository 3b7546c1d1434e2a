"""`pegboard kb add --check`: what files would change in a base, before they are put in."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.options import settings, with_client
from pegboard.cli.output.tables import say, say_json
from pegboard.errors import DocumentUnreadable, InvalidRequest

if TYPE_CHECKING:
    from pegboard.cli.client.knowledge_port import KnowledgeClient
    from pegboard.cli.client.port import BoardClient

_MAX_NUMBERS = 20


def check_files(
    base: str,
    sources: Sequence[str],
    replaces: str,
    *,
    settings_of: tuple[Path | None, str | None, str | None],
    json: bool,
) -> None:
    """Print what each file would change; one that cannot be read does not end it.

    Raises:
        typer.Exit: A file cannot be read, or the base is not there.
    """

    async def check(client: "BoardClient") -> Mapping[str, Any]:
        said = {"replaces": replaces} if replaces else {}
        paths = find_files(sources)
        if not paths:
            raise InvalidRequest("--check is about files: name one or more.")
        checks = [await check_one(client.knowledge, base, path, said) for path in paths]
        return {"checks": checks}

    with exit_on_error():
        found = with_client(settings(*settings_of, keep="write"), check, opens="named")
    if json:
        say_json(found)
    else:
        for item in found["checks"]:
            say("\n".join(describe_check(item)))
    if any("error" in item for item in found["checks"]):
        raise typer.Exit(Exit.FAILED)


def find_files(sources: Sequence[str]) -> list[Path]:
    """The files of these names.

    Raises:
        InvalidRequest: One is no file, or two would be the same document.
    """
    paths = [Path(source).expanduser().resolve() for source in sources]
    for source, path in zip(sources, paths, strict=True):
        if not path.is_file():
            raise InvalidRequest(f"There is no file '{source}'; --check is about files.")
    check_names(paths)
    return paths


def check_names(paths: Iterable[Path]) -> None:
    """Refuse two files of one name: the second would take the place of the first.

    Raises:
        InvalidRequest: Two have the same name.
    """
    known: dict[str, Path] = {}
    for path in paths:
        other = known.setdefault(path.name, path)
        if other != path:
            raise InvalidRequest(
                f"'{other}' and '{path}' have the same name, by which a base knows a file: the "
                "second would take the place of the first. Rename one."
            )


async def check_one(
    kb: "KnowledgeClient", base: str, path: Path, said: Mapping[str, str]
) -> Mapping[str, Any]:
    """What a file would change, or why it cannot be read."""
    try:
        return await kb.check_file(base, path, said)
    except DocumentUnreadable as error:
        return {"name": path.name, "error": {"code": error.code, "message": str(error)}}


def describe_check(item: Mapping[str, Any]) -> list[str]:
    """The lines about one file."""
    if "error" in item:
        return [f"{item['name']}: cannot be read: {item['error']['message']}"]
    name, pages, passages = item["name"], item["pages"], item["passages"]
    if item["outcome"] == "already_here":
        return [f"{name}: already here ({item['document']})"]
    if item["document"] is None:
        lines = [f"{name}: a new document, {_count(pages['total'], 'page')}"]
    else:
        number = len(pages["changed"]) + len(pages["new"])
        what = (
            f"{number} of {_count(pages['total'], 'page')} changed"
            if pages["total"]
            else f"{_count(sum(passages.values()), 'passage')} changed"
        )
        lines = [f"{name}: {what} since '{item['title']}' ({item['document']})"]
        lines += [f"  {kind}: {_list(pages[kind])}" for kind in _KINDS if pages[kind]]
        lines.append("  passages: " + ", ".join(f"{passages[it]} {it}" for it in passages))
    lines.append(f"  {item['embedded']} of {_count(item['pieces'], 'piece')} would be embedded")
    if item["held"]:
        lines.append(f"  {_count(item['held'], 'place')} would hold it back for a review")
    return lines


_KINDS = ("changed", "new", "vanished")


def _list(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MAX_NUMBERS]))
    left = len(numbers) - _MAX_NUMBERS
    return f"pages {shown} and {left} more" if left > 0 else f"pages {shown}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
