"""`pegboard serve`: the server."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import BoardOption, DataOption, settings
from pegboard.errors import ConfigError


def serve(
    *,
    host: Annotated[str | None, typer.Option(help="Where to listen [default: 127.0.0.1].")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port [default: 8321]; 0 picks one.")
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(
            help="Log lines: `off`, `terminal` (readable), `stdout`, `stderr` or a file (JSON) "
            "[default: `terminal`, or `stderr` where that is no terminal]."
        ),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Reload modules and scripts of tools too when they change."),
    ] = False,
    board: BoardOption = None,
    data: DataOption = None,
) -> None:
    """Serve the board over HTTP until interrupted.

    Beyond loopback it needs PEGBOARD_TOKEN, which callers send as a bearer token.
    """
    with exit_on_error():
        chosen = settings(board, data, keep="serve").replace(host=host, port=port, log=log)
        if chosen.board is not None and not Path(chosen.board).is_file():
            raise ConfigError(f"There is no board file {chosen.board}: try 'pegboard init'.")
        if watch:
            chosen = chosen.replace(reload="files")
        if chosen.log == "auto":
            chosen = chosen.replace(log="terminal" if sys.stderr.isatty() else "stderr")
        from pegboard.runtime.wiring.events.listeners import write_log_records
        from pegboard.servers.http import serve as serve_http

        with write_log_records(chosen):
            serve_http(chosen)
