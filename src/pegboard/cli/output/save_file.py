"""Writes what a command downloads: a whole file, or none."""

import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import BinaryIO

from pegboard.errors import InvalidRequest

STDOUT = "-"


async def save_file(chunks: AsyncGenerator[bytes], target: Path) -> None:
    """Write a file that is complete or not there; `-` is stdout.

    Raises:
        InvalidRequest: There is one already, or it cannot be written.
    """
    first = await anext(chunks, b"")  # a file that does not exist makes none here
    if str(target) == STDOUT:
        await _write(first, chunks, sys.stdout.buffer)
        return
    try:
        with target.open("xb") as file:
            try:
                await _write(first, chunks, file)
            except BaseException:
                target.unlink(missing_ok=True)  # noqa: ASYNC240 - the command runs alone
                raise
    except FileExistsError as error:
        raise InvalidRequest(
            f"{target} exists already; name another file with --output."
        ) from error
    except OSError as error:
        raise InvalidRequest(f"{target} cannot be written: {error.strerror}.") from error


async def _write(first: bytes, chunks: AsyncGenerator[bytes], file: BinaryIO) -> None:
    file.write(first)
    async for chunk in chunks:
        file.write(chunk)
    file.flush()
