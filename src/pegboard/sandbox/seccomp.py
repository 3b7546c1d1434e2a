"""A seccomp filter: which system calls a confined process may make.

It refuses what namespaces, Landlock and limits leave open, as container engines do: sockets of
families that no namespace contains, io_uring (which bypasses such filters), tracing, keys, mounts,
set-user-id bits. Calls that are newer than this list are refused.
The layout of instructions and of `seccomp_data` is that of `linux/bpf_common.h` and
`linux/seccomp.h`; the numbers of calls are those of `asm/unistd_64.h` and `asm-generic/unistd.h`.
"""

import errno
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
NEWEST = 462
"""The last call that the filter knows of (`mseal`); newer ones have one number everywhere."""

_X86_64 = """
ptrace=101 process_vm_readv=310 process_vm_writev=311 kcmp=312 pidfd_getfd=438
process_madvise=440 io_uring_setup=425 io_uring_enter=426 io_uring_register=427 bpf=321
perf_event_open=298 userfaultfd=323 keyctl=250 add_key=248 request_key=249 unshare=272
setns=308 mount=165 umount2=166 pivot_root=155 chroot=161 move_mount=429 open_tree=428
fsopen=430 fsconfig=431 fsmount=432 fspick=433 mount_setattr=442 swapon=167 swapoff=168
reboot=169 kexec_load=246 kexec_file_load=320 init_module=175 finit_module=313
delete_module=176 open_by_handle_at=304 name_to_handle_at=303 quotactl=179 quotactl_fd=443
acct=163 syslog=103 settimeofday=164 clock_settime=227 adjtimex=159 clock_adjtime=305
sethostname=170 setdomainname=171 vhangup=153 iopl=172 ioperm=173 fanotify_init=300
migrate_pages=256 move_pages=279 modify_ldt=154 lookup_dcookie=212 uselib=134 setxattr=188
lsetxattr=189 fsetxattr=190 removexattr=197 lremovexattr=198 fremovexattr=199 shmget=29
shmat=30 shmctl=31 semget=64 semop=65 semctl=66 semtimedop=220 msgget=68 msgsnd=69 msgrcv=70
msgctl=71 mq_open=240 mq_unlink=241 chmod=90 fchmod=91 fchmodat=268 fchmodat2=452 chown=92
fchown=93 lchown=94 fchownat=260 utime=132 utimes=235 futimesat=261 utimensat=280 clone3=435
openat2=437 open=2 openat=257 creat=85 mknod=133 mknodat=259 clone=56 socket=41 prlimit64=302
setpriority=141 ioprio_set=251 sched_setaffinity=203 sched_setscheduler=144 sched_setparam=142
sched_setattr=314
"""
_AARCH64 = """
ptrace=117 process_vm_readv=270 process_vm_writev=271 kcmp=272 pidfd_getfd=438
process_madvise=440 io_uring_setup=425 io_uring_enter=426 io_uring_register=427 bpf=280
perf_event_open=241 userfaultfd=282 keyctl=219 add_key=217 request_key=218 unshare=97 setns=268
mount=40 umount2=39 pivot_root=41 chroot=51 move_mount=429 open_tree=428 fsopen=430
fsconfig=431 fsmount=432 fspick=433 mount_setattr=442 swapon=224 swapoff=225 reboot=142
kexec_load=104 kexec_file_load=294 init_module=105 finit_module=273 delete_module=106
open_by_handle_at=265 name_to_handle_at=264 quotactl=60 quotactl_fd=443 acct=89 syslog=116
settimeofday=170 clock_settime=112 adjtimex=171 clock_adjtime=266 sethostname=161
setdomainname=162 vhangup=58 fanotify_init=262 migrate_pages=238 move_pages=239
lookup_dcookie=18 setxattr=5 lsetxattr=6 fsetxattr=7 removexattr=14 lremovexattr=15
fremovexattr=16 shmget=194 shmat=196 shmctl=195 semget=190 semop=193 semctl=191 semtimedop=192
msgget=186 msgsnd=189 msgrcv=188 msgctl=187 mq_open=180 mq_unlink=181 fchmod=52 fchmodat=53
fchmodat2=452 fchown=55 fchownat=54 utimensat=88 clone3=435 openat2=437 openat=56 mknodat=33
clone=220 socket=198 prlimit64=261 setpriority=140 ioprio_set=30 sched_setaffinity=122
sched_setscheduler=119 sched_setparam=118 sched_setattr=274
"""


def _numbers(words: str) -> dict[str, int]:
    pairs = (word.split("=") for word in words.split())
    return {name: int(number) for name, number in pairs}


NUMBERS: Mapping[str, Mapping[str, int]] = {
    "x86_64": _numbers(_X86_64),
    "aarch64": _numbers(_AARCH64),
}
"""The numbers of the system calls that the filter names, by processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterRules:
    """The rules that differ between back ends.

    Attributes:
        families: Allowed socket families.
        namespaces: Whether the process has its own mount and IPC namespaces.
        owns_others: Whether files outside may belong to the user of the process: then it may not
            change modes, owners and times by path, which Landlock does not control.
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
    """Apply instructions to one call, then load the number again."""
    again = (_LOAD, 0, 0, _NUMBER_AT)
    return [(_EQUAL, 0, len(then) + 1, number), *then, again]
