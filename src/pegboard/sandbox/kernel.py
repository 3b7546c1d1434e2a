"""What the kernel of this machine offers."""

import functools
import sys

_CREATE_RULESET, _ASK_VERSION = 444, 1


@functools.cache
def landlock_abi() -> int:
    """The version of Landlock; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    return max(
        0, libc.syscall(ctypes.c_ulong(_CREATE_RULESET), zero, zero, ctypes.c_ulong(_ASK_VERSION))
    )
