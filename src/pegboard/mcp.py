"""`python -m pegboard.mcp`: the built-in tools as an MCP server, without a board file."""

import argparse
import sys
from collections.abc import Sequence

from pegboard.errors import PegboardError
from pegboard.runtime import Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve over stdin and stdout, or over HTTP with `--http PORT`; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m pegboard.mcp", description="Serve the built-in tools over MCP."
    )
    parser.add_argument(
        "--http", type=int, metavar="PORT", help="listen on 127.0.0.1:PORT at /mcp; 0 picks a port"
    )
    given = parser.parse_args(arguments)
    try:
        settings = Settings.from_environment().model_copy(update={"board": None})
        if given.http is None:
            from pegboard.servers.mcp import serve_stdio

            serve_stdio(settings)
        else:
            from pegboard.servers.http import serve

            serve(settings.replace(port=given.http))
    except PegboardError as error:
        sys.stderr.write(f"pegboard: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
