"""`pegboard audit`: list, export and check the audit trail."""

import json as json_library
import re
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.offline_storage import run_offline
from pegboard.cli.options import DataOption, JsonOption, settings
from pegboard.cli.output.tables import format_time, note, say, say_json, table
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.core.ports.audit_store import AuditRecord
    from pegboard.features.audit import Audit

T = TypeVar("T")
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
    json: JsonOption = False,
) -> None:
    """List records, oldest first."""
    from pegboard.features.audit.schemas import record_to_dict

    with exit_on_error():
        records = run_offline(
            settings(data=data),
            "GET /audit",
            lambda opened: opened.audit.records(after=after, kind=kind, limit=limit),
        )
    if json:
        say_json({"records": [record_to_dict(record) for record in records]})
        return
    table(("sequence", "time", "kind", "what", "who", "how"), map(_row, records))
    if len(records) == limit:
        note(f"more with --after {records[-1].sequence}")


@audit.command()
def verify(
    *,
    anchor: Annotated[
        str, typer.Option(help="`SEQUENCE:HASH` from an earlier 'audit verify'.")
    ] = "",
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Check that no record was changed, removed or reordered; exits with 1 if one was."""
    from pegboard.features.audit.schemas import anchor_of, report_to_dict

    with exit_on_error():
        if anchor and not _ANCHOR.fullmatch(anchor):
            raise InvalidRequest("--anchor: write SEQUENCE:HASH, as 'audit verify' prints it")
        report = run_offline(
            settings(data=data),
            "GET /audit/verify",
            lambda opened: opened.audit.verify(anchor=anchor_of(anchor)),
        )
    if json:
        say_json(report_to_dict(report))
    elif report.is_intact:
        say(f"{report.checked} records are intact")
        if report.first > 1:
            say(
                f"records before {report.first} were deleted by retention, as a retention record "
                "says"
            )
        if report.last:
            say(f"anchor: {report.last}:{report.head}")
    else:
        say(f"NOT INTACT: {report.fault}")
    raise typer.Exit(Exit.DONE if report.is_intact else Exit.FAILED)


@audit.command()
def export(
    *,
    after: Annotated[int, typer.Option(min=0)] = 0,
    kind: KindOption = "",
    data: DataOption = None,
) -> None:
    """Print every record as a line of JSON, oldest first."""
    from pegboard.features.audit.schemas import record_to_dict

    async def write(trail: "Audit") -> None:
        last = after
        while records := await trail.records(after=last, kind=kind, limit=_PAGE):
            for record in records:
                say(json_library.dumps(record_to_dict(record)))
            last = records[-1].sequence

    with exit_on_error():
        run_offline(settings(data=data), "GET /audit", lambda opened: write(opened.audit))


def _row(record: "AuditRecord") -> tuple[str, ...]:
    from pegboard.features.audit.schemas import body_of

    body = body_of(record)
    what = next((body[key] for key in ("tool", "source", "subject", "action") if body.get(key)), "")
    who = next((body[key] for key in ("by", "principal") if body.get(key)), "")
    how = next((body[key] for key in _HOW if body.get(key)), "")
    return (
        str(record.sequence),
        format_time(record.at),
        record.kind,
        str(what),
        str(who),
        str(how),
    )
