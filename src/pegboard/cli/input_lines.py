"""The lines of the input, read beside the event loop."""

import asyncio
import codecs
import io
import os
import select
import sys

_CHUNK = 65_536


class InputLines:
    """Reads stdin line by line in a thread, so that what this process runs goes on meanwhile.

    It reads the file descriptor, because a read of `sys.stdin` cannot be cancelled. A terminal
    gives its lines one by one, so that other prompts may read `sys.stdin` between two.
    Where a program has put text in the place of `sys.stdin`, there is no descriptor, and no wait.
    """

    def __init__(self) -> None:
        try:
            self._stdin: int | None = sys.stdin.fileno()
        except io.UnsupportedOperation:
            self._stdin = None
            return
        decoder = codecs.getincrementaldecoder(sys.stdin.encoding)(sys.stdin.errors or "strict")
        self._decoder = io.IncrementalNewlineDecoder(decoder, translate=True)
        self._text = ""

    async def read(self) -> str:
        """Return the next line with its end; empty at the end of the input.

        Cancelling it ends the read: what is typed later is read by the next one.
        """
        stdin = self._stdin
        if stdin is None:
            return sys.stdin.readline()
        is_over, end = os.pipe()

        def run() -> str:
            try:
                return self._read_line(stdin, is_over)
            finally:
                os.close(is_over)

        try:
            return await asyncio.to_thread(run)
        finally:
            os.close(end)

    def _read_line(self, stdin: int, is_over: int) -> str:
        """Read until a line has ended, or the other end of this pipe is closed."""
        while "\n" not in self._text:
            readable, _, _ = select.select([stdin, is_over], [], [])
            if is_over in readable:
                return ""
            chunk = os.read(stdin, _CHUNK)
            self._text += self._decoder.decode(chunk, final=not chunk)
            if not chunk:
                line, self._text = self._text, ""
                return line
        line, _, self._text = self._text.partition("\n")
        return f"{line}\n"
