"""Which system calls a confined process may make: a seccomp filter, made as bytes.

A list of what is refused, as container engines have it, for what namespaces, Landlock and limits
leave open: sockets of families that no namespace holds, io_uring (which passes by such filters),
tracing, keys, mounts, set-user-id bits. What is newer than this list is unknown to it and refused.
The layout of instructions and of `seccomp_data` is that of `linux/bpf_common.h` and
`linux/seccomp.h`; the numbers of calls are those of `asm/unistd_64.h` and `asm-generic/unistd.h`.
"""

import errno
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from pegboard.sandbox.syscalls import NEWEST, NUMBERS

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_SET_ID_BITS = 0o6000
_NEW_NAMESPACES = 0x7E02_0080
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16

_NEVER = """
ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise
io_uring_setup io_uring_enter io_uring_register bpf perf_event_open userfaultfd
keyctl add_key request_key unshare setns mount umount2 pivot_root chroot move_mount
open_tree fsopen fsconfig fsmount fspick mount_setattr swapon swapoff reboot kexec_load
kexec_file_load init_module finit_module delete_module open_by_handle_at
name_to_handle_at quotactl quotactl_fd acct syslog settimeofday clock_settime adjtimex
clock_adjtime sethostname setdomainname vhangup iopl ioperm fanotify_init migrate_pages
move_pages modify_ldt lookup_dcookie uselib setxattr lsetxattr fsetxattr removexattr
lremovexattr fremovexattr
"""
_SHARED_WITH_OTHERS = """
shmget shmat shmctl semget semop semctl semtimedop msgget msgsnd msgrcv msgctl mq_open
mq_unlink
"""
_METADATA = """
chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat
"""
_FALLS_BACK = ("clone3", "openat2")  # their arguments lie in memory; C libraries know older ones
_MODES = {
    "chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "open": 2, "openat": 3, "creat": 1,
    "mknod": 1, "mknodat": 2,
}  # fmt: skip
_OF_OTHERS = {
    "prlimit64": 0, "setpriority": 1, "ioprio_set": 1, "sched_setaffinity": 0,
    "sched_setscheduler": 0, "sched_setparam": 0, "sched_setattr": 0,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterRules:
    """What differs from back end to back end.

    Attributes:
        families: Kinds of socket that may be made.
        namespaces: Whether the process has mounts and IPC of its own.
        owns_others: Whether files outside may belong to the process's user: then it may not change
            modes, owners and times by path, since Landlock does not watch those.
    """

    families: tuple[int, ...]
    namespaces: bool
    owns_others: bool


def supported(machine: str) -> bool:
    """Whether there is a filter for this kind of processor."""
    return machine in _ARCHITECTURES


def seccomp_filter(machine: str, rules: FilterRules) -> bytes:
    """The filter's program for `prctl(PR_SET_SECCOMP)`."""
    numbers = NUMBERS[machine]
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),  # a 32-bit call: its numbers mean something else
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, NEWEST + 1),
        (_RETURN, 0, 0, _REFUSE | errno.ENOSYS),
    ]
    refused = _NEVER.split()
    if not rules.namespaces:
        refused += _SHARED_WITH_OTHERS.split()
    if rules.owns_others:
        refused += _METADATA.split()
    for names, code in ((refused, errno.EPERM), (_FALLS_BACK, errno.ENOSYS)):
        for name in names:
            if name in numbers:
                program += [(_EQUAL, 0, 1, numbers[name]), (_RETURN, 0, 0, _REFUSE | code)]
    for name, test in _argument_tests(rules):
        if name in numbers:
            program += _whenever(numbers[name], test)
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


Instruction = tuple[int, int, int, int]


def _argument_tests(rules: FilterRules) -> list[tuple[str, list[Instruction]]]:
    refuse = (_RETURN, 0, 0, _REFUSE | errno.EPERM)
    tests = [("clone", [_argument(0), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), refuse])]
    tests += [
        (name, [_argument(at), (_ANY_BIT, 0, 1, _SET_ID_BITS), refuse])
        for name, at in _MODES.items()
    ]
    tests += [(name, [_argument(at), (_EQUAL, 1, 0, 0), refuse]) for name, at in _OF_OTHERS.items()]
    allowed = [(_EQUAL, len(rules.families) - i, 0, k) for i, k in enumerate(rules.families)]
    tests.append(("socket", [_argument(0), *allowed, refuse]))
    if rules.owns_others:  # no path, in both halves of the address, means the open file itself
        no_path = [_high(1), (_EQUAL, 0, 2, 0), _argument(1), (_EQUAL, 1, 0, 0), refuse]
        tests.append(("utimensat", no_path))
    return tests


def _argument(index: int) -> Instruction:
    """Load the low half of an argument: families, flags and modes have no more."""
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * index)


def _high(index: int) -> Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * index + 4)


def _whenever(number: int, then: Sequence[Instruction]) -> list[Instruction]:
    """Do this for one call, and go on with its number loaded again."""
    again = (_LOAD, 0, 0, _NUMBER_AT)
    return [(_EQUAL, 0, len(then) + 1, number), *then, again]
