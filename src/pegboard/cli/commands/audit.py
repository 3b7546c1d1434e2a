"""`pegboard audit`: list, export and check the audit trail."""

import json as json_library
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.options import DataOption, JsonOption, UrlOption, settings, with_client
from pegboard.cli.output.tables import format_time, note, say, say_json, table
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient

_ANCHOR = re.compile(r"\d{1,15}:[0-9a-f]{64}")
_PAGE = 1_000
_HOW = ("status", "state", "action", "decision")

KindOption = Annotated[str, typer.Option(help="Only `call`, `approval`, `policy`, `source`, ...")]

audit = typer.Typer(
    help="Show, export and check the audit trail.", no_args_is_help=True, rich_markup_mode=None
)


@audit.command("list")
def list_records(
    *,
    after: Annotated[int, typer.Option(min=0, help="Only records after this sequence number.")] = 0,
    kind: KindOption = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of entries.")] = 50,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List records, oldest first."""
    with exit_on_error():
        records = with_client(
            settings(data=data, url=url),
            lambda client: client.list_audit(after=after, kind=kind, limit=limit),
            opens="stored",
        )
    if json:
        say_json({"records": records})
        return
    table(("sequence", "time", "kind", "what", "who", "how"), map(_row, records))
    if len(records) == limit:
        note(f"more with --after {records[-1]['sequence']}")


@audit.command()
def verify(
    *,
    anchor: Annotated[
        str, typer.Option(help="`SEQUENCE:HASH` from an earlier 'audit verify'.")
    ] = "",
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Check that no record was changed, removed or reordered; exits with 1 if one was."""
    with exit_on_error():
        if anchor and not _ANCHOR.fullmatch(anchor):
            raise InvalidRequest("--anchor: write SEQUENCE:HASH, as 'audit verify' prints it")
        report = with_client(
            settings(data=data, url=url),
            lambda client: client.verify_audit(anchor),
            opens="stored",
        )
    if json:
        say_json(report)
    elif report["intact"]:
        say(f"{report['checked']} records are intact")
        if report["first"] > 1:
            say(
                f"records before {report['first']} were deleted by retention, as a retention "
                "record says"
            )
        if report["last"]:
            say(f"anchor: {report['last']}:{report['head']}")
    else:
        say(f"NOT INTACT: {report['fault']}")
    raise typer.Exit(Exit.DONE if report["intact"] else Exit.FAILED)


@audit.command()
def export(
    *,
    after: Annotated[int, typer.Option(min=0)] = 0,
    kind: KindOption = "",
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Print every record as a line of JSON, oldest first."""

    async def write(client: "BoardClient") -> None:
        last = after
        while records := await client.list_audit(after=last, kind=kind, limit=_PAGE):
            for record in records:
                say(json_library.dumps(record))
            last = records[-1]["sequence"]

    with exit_on_error():
        with_client(settings(data=data, url=url), write, opens="stored")


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    body = _body_of(record)
    what = next((body[key] for key in ("tool", "source", "subject", "action") if body.get(key)), "")
    who = next((body[key] for key in ("by", "principal") if body.get(key)), "")
    how = next((body[key] for key in _HOW if body.get(key)), "")
    return (
        str(record["sequence"]),
        format_time(record["at"]),
        record["kind"],
        str(what),
        str(who),
        str(how),
    )


def _body_of(record: dict[str, Any]) -> dict[str, Any]:
    """Parse the body of a record; empty if it was tampered with."""
    try:
        body: Any = json_library.loads(record["body"])
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}  # pyright: ignore[reportUnknownVariableType]  # JSON objects have text as keys
