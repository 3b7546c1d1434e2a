"""What ends a part of a play without being a failure of it: signals that never leave this room.

They are no `Exception`s, so that nothing which turns errors of nodes into outcomes takes them for
one.
"""


class Stopped(BaseException):
    """Nothing new starts any more in this graph; says why."""


class Suspended(BaseException):
    """The run only waits, and is played again when there is something to do."""


class StoreFailed(BaseException):
    """Where the run is kept could not be written; the cause says why. The play ends."""
