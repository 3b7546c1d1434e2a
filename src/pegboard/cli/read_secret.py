"""Reading a password or another secret value: from a terminal without echo, or from a pipe."""

import sys

import typer

from pegboard.errors import InvalidRequest


def read_secret(label: str) -> str:
    """Read a secret value.

    Where the standard input is not a terminal, its first line is the value: `getpass` alone would
    ask at the controlling terminal and leave what is piped unread.

    Args:
        label: What to ask for, as `Password`.

    Raises:
        InvalidRequest: The standard input is empty.
    """
    if sys.stdin.isatty():
        return str(typer.prompt(label, hide_input=True, err=True))
    value = sys.stdin.readline().rstrip("\r\n")
    if not value:
        raise InvalidRequest(
            f"{label} is missing: run the command at a terminal, or write the value to its "
            "standard input."
        )
    return value
