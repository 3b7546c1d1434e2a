"""`pegboard quotas`: how much accounts and organisations may use, and what they have used."""

from typing import Annotated, Any

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import DataOption, JsonOption, UrlOption, settings, with_client
from pegboard.cli.output.tables import format_time, note, say, say_json, table
from pegboard.core.ports.accounts.quota_store import Measure, Window
from pegboard.errors import InvalidRequest

MeasureArgument = Annotated[
    Measure, typer.Argument(help="'calls' of tools, or 'cost' of models in US dollars.")
]
WindowArgument = Annotated[Window, typer.Argument(help="A calendar day or month in UTC.")]
PersonOption = Annotated[str, typer.Option("--person", help="A handle, of a service account too.")]
OrganisationOption = Annotated[
    str,
    typer.Option(
        "--organisation", help="A handle; with --person, what this person uses on its behalf."
    ),
]

_NOUNS = {"calls": "calls", "cost": "costs"}

quotas = typer.Typer(
    help="Limit the calls and model costs of people.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@quotas.command("list")
def list_quotas(
    *, data: DataOption = None, url: UrlOption = None, json: JsonOption = False
) -> None:
    """List the quotas that hold for you, and those that you may change."""
    with exit_on_error():
        found = with_client(
            settings(data=data, url=url),
            lambda client: client.people.quotas.list(),
            opens="stored",
        )
    if json:
        say_json(found)
        return
    table(
        ("person", "organisation", "measure", "per", "used", "limit", "set by", "until"),
        map(_row, found["quotas"]),
    )
    if not found["quotas"]:
        note("nothing is limited")


@quotas.command("set")
def set_quota(
    measure: MeasureArgument,
    window: WindowArgument,
    limit: Annotated[
        str,
        typer.Argument(
            help="Calls, or US dollars; 'none' for no limit, in place of the board file's."
        ),
    ],
    *,
    person: PersonOption = "",
    organisation: OrganisationOption = "",
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Limit a person, an organisation, or a person in an organisation; it counts from now on."""
    with exit_on_error():
        amount = _read_limit(limit)
        done = with_client(
            settings(data=data, url=url, keep="write"),
            lambda client: client.people.quotas.put(
                measure, window, amount, person=person, organisation=organisation
            ),
            opens="stored",
        )
    if json:
        say_json(done)
        return
    say(
        f"{' in '.join(filter(None, (person, organisation)))}: {_describe(measure, amount, window)}"
    )


@quotas.command()
def delete(
    measure: MeasureArgument,
    window: WindowArgument,
    *,
    person: PersonOption = "",
    organisation: OrganisationOption = "",
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Remove a quota; the default of the board file holds again."""
    with exit_on_error():
        with_client(
            settings(data=data, url=url, keep="write"),
            lambda client: client.people.quotas.remove(
                measure, window, person=person, organisation=organisation
            ),
            opens="stored",
        )
    say(f"deleted: {measure} a {window} of {' in '.join(filter(None, (person, organisation)))}")


def _describe(measure: str, amount: float | None, window: str) -> str:
    """A quota in words, as `500 calls a day`."""
    if amount is None:
        return f"no limit of {_NOUNS[measure]} a {window}"
    return f"{_format(measure, amount)}{' calls' if measure == 'calls' else ''} a {window}"


def _format(measure: str, amount: float) -> str:
    return f"{amount:.0f}" if measure == "calls" else f"${amount:.2f}"


def _read_limit(text: str) -> float | None:
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidRequest(f"'{text[:40]}' is no limit: write a number, or 'none'.") from None


def _row(quota: dict[str, Any]) -> tuple[str, ...]:
    measure: str = quota["measure"]
    limit = "none" if quota["limit"] is None else _format(measure, quota["limit"])
    return (
        quota["person"],
        quota["organisation"],
        measure,
        quota["window"],
        _format(measure, quota["used"]),
        limit,
        quota["set_by"],
        format_time(quota["resets_at"]),
    )
