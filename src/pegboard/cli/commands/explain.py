"""`pegboard explain NAME`: why a tool may or may not be called."""

from typing import Annotated

import typer

from pegboard.cli.complete_tools import complete_tool
from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_client,
)
from pegboard.cli.output.tables import say, say_json, table
from pegboard.cli.pairs import read_pairs


def explain(
    name: Annotated[
        str,
        typer.Argument(
            help="The tool's name or id; hidden tools too.", autocompletion=complete_tool
        ),
    ],
    *,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg", "-a", help="`key=text` or `key:=json` of a call, for rules that look at it."
        ),
    ] = None,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Explain whether a tool may be called, and by which rule."""
    with exit_on_error():
        arguments = read_pairs(arg, option="--arg") if arg else None
        answer = with_client(
            settings(board, data, url),
            lambda client: client.explain_tool(name, arguments),
            opens="named",
        )
        if json:
            say_json(answer)
            return
        seen = "listed" if answer["visible"] else "hidden"
        who = answer.get("principal_handle") or answer["principal"]
        say(f"{answer['tool']} for {who}: {answer['verdict']}, {seen}")
        say(f"because {answer['reason']}  ({answer['rule']})\n")
        table(("check", "result"), ((item["check"], item["result"]) for item in answer["checks"]))
        if answer["remedies"]:
            say("\nwhat would let the caller in:")
        for step in answer["remedies"]:
            say(f"  {step['check']}: {', or '.join(item['text'] for item in step['any_of'])}")
