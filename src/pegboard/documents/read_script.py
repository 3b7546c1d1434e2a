"""The program of the sandboxed process: it reads one file and answers on stdout.

Run as a script by `converter.py`, never imported by it. The first line of stdin has the import
path, the second a `ReadOrder`.
"""

import json
import sys


def main() -> None:
    """Read the import path and the order, do it, answer."""
    sys.path[:0] = json.loads(sys.stdin.buffer.readline())
    from pegboard.documents.formats.read_order import reply_to_order

    answer = reply_to_order(sys.stdin.buffer.read())
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
