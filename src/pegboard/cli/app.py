"""The commands in one list."""

import io
import sys

import typer

from pegboard.cli.commands.add import add
from pegboard.cli.commands.approvals import approvals
from pegboard.cli.commands.audit import audit
from pegboard.cli.commands.call import call
from pegboard.cli.commands.doctor import doctor
from pegboard.cli.commands.explain import explain
from pegboard.cli.commands.graph import graph
from pegboard.cli.commands.history import history
from pegboard.cli.commands.init import init
from pegboard.cli.commands.market import market
from pegboard.cli.commands.mcp import mcp
from pegboard.cli.commands.pins import pins
from pegboard.cli.commands.plan import plan
from pegboard.cli.commands.run import run
from pegboard.cli.commands.runs import runs
from pegboard.cli.commands.serve import serve
from pegboard.cli.commands.show import show
from pegboard.cli.commands.sources import sources
from pegboard.cli.commands.switches import switches
from pegboard.cli.commands.tools import tools

app = typer.Typer(
    name="pegboard",
    help="Every capability an AI agent can use, on one board.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (init, tools, show, call, plan, run, explain, sources, history, serve, doctor):
    app.command()(command)
app.add_typer(add, name="add")
app.add_typer(runs, name="runs")
app.add_typer(graph, name="graph")
app.add_typer(approvals, name="approvals")
app.add_typer(pins, name="pins")
app.add_typer(market, name="market")
app.add_typer(switches, name="switches")
app.add_typer(audit, name="audit")
app.add_typer(mcp, name="mcp")


@app.callback(invoke_without_command=True)
def version(
    show_version: bool = typer.Option(False, "--version", help="Print the version.", is_eager=True),
) -> None:
    """Every capability an AI agent can use, on one board."""
    if show_version:
        from pegboard import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """The entry point of the `pegboard` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a tool says may fit no encoding
    app()
