"""`pegboard kb add --check`: what files would change in a base, before they are put in."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import settings, with_client
from pegboard.cli.output.tables import say, say_json
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
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
    """Print what each file would change."""

    async def check(client: "BoardClient") -> Mapping[str, Any]:
        said = {"replaces": replaces} if replaces else {}
        paths = [Path(it).expanduser().resolve() for it in sources]  # noqa: ASYNC240 - it runs alone
        if not paths or not all(path.is_file() for path in paths):
            raise InvalidRequest("--check is about files: name one or more.")
        return {"checks": [await client.knowledge.check_file(base, it, said) for it in paths]}

    with exit_on_error():
        found = with_client(settings(*settings_of, keep="write"), check, opens="named")
    if json:
        say_json(found)
        return
    for item in found["checks"]:
        say("\n".join(describe_check(item)))


def describe_check(item: Mapping[str, Any]) -> list[str]:
    """The lines about one file."""
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
