"""The filter's program, run by a small machine as the kernel would."""

import errno
import struct

import pytest

from pegboard.sandbox.seccomp import (
    AF_INET,
    NEWEST,
    NUMBERS,
    FilterRules,
    seccomp_filter,
    supported,
)

ALLOWED, KILLED = 0x7FFF_0000, 0x8000_0000
REFUSED, UNKNOWN = 0x0005_0000 | errno.EPERM, 0x0005_0000 | errno.ENOSYS
AUDIT = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
STRICT = FilterRules(families=(), namespaces=False, owns_others=True)
ROOMY = FilterRules(families=(1, AF_INET), namespaces=True, owns_others=False)
MACHINES = sorted(NUMBERS)


def answer(program: bytes, number: int, *arguments: int, architecture: int) -> int:
    """What the program returns for a system call."""
    six = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("=iIQ6Q", number, architecture, 0, *six)
    code = list(struct.iter_unpack("=HBBI", program))
    register, at = 0, 0
    while True:
        operation, yes, no, value = code[at]
        at += 1
        if operation == 0x20:
            (register,) = struct.unpack_from("=I", data, value)
        elif operation == 0x06:
            return value
        else:
            holds = {
                0x15: register == value,
                0x35: register >= value,
                0x45: bool(register & value),
            }[operation]
            at += yes if holds else no


def called(machine: str, rules: FilterRules, name: str, *arguments: int) -> int:
    program = seccomp_filter(machine, rules)
    number = NUMBERS[machine][name]
    return answer(program, number, *arguments, architecture=AUDIT[machine])


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("rules", [STRICT, ROOMY], ids=["strict", "roomy"])
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("ptrace", (), REFUSED),
        ("io_uring_setup", (), REFUSED),
        ("mount", (), REFUSED),
        ("keyctl", (), REFUSED),
        ("fsetxattr", (), REFUSED),
        ("clone3", (), UNKNOWN),
        ("openat2", (), UNKNOWN),
        ("clone", (0x11,), ALLOWED),
        ("clone", (0x1000_0011,), REFUSED),
        ("clone", (0x0002_0011,), REFUSED),
        ("openat", (0, 0, 0x41, 0o644), ALLOWED),
        ("openat", (0, 0, 0x41, 0o4755), REFUSED),
        ("openat", (0, 0, 0x41, 0o2755), REFUSED),
        ("fchmod", (3, 0o4755), REFUSED),
        ("mknodat", (0, 0, 0o104755), REFUSED),
        ("prlimit64", (0, 7), ALLOWED),
        ("prlimit64", (1, 7), REFUSED),
        ("setpriority", (0, 0), ALLOWED),
        ("setpriority", (0, 9), REFUSED),
        ("socket", (17,), REFUSED),
        ("socket", (40,), REFUSED),
    ],
)
def test_every_filter_refuses_what_reaches_out(
    machine: str, rules: FilterRules, name: str, arguments: tuple[int, ...], expected: int
) -> None:
    assert called(machine, rules, name, *arguments) == expected


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "strict", "roomy"),
    [
        ("socket", (1,), REFUSED, ALLOWED),
        ("socket", (2,), REFUSED, ALLOWED),
        ("socket", (10,), REFUSED, REFUSED),
        ("fchmod", (3, 0o755), REFUSED, ALLOWED),
        ("fchownat", (), REFUSED, ALLOWED),
        ("utimensat", (3, 0), ALLOWED, ALLOWED),
        ("utimensat", (3, 0x1234), REFUSED, ALLOWED),
        ("utimensat", (3, 0x7F00_0000_0000), REFUSED, ALLOWED),
        ("shmget", (), REFUSED, ALLOWED),
        ("mq_open", (), REFUSED, ALLOWED),
    ],
)
def test_without_namespaces_more_is_refused(
    machine: str, name: str, arguments: tuple[int, ...], strict: int, roomy: int
) -> None:
    assert called(machine, STRICT, name, *arguments) == strict
    assert called(machine, ROOMY, name, *arguments) == roomy


@pytest.mark.parametrize("machine", MACHINES)
def test_what_it_does_not_know_is_not_there(machine: str) -> None:
    program = seccomp_filter(machine, ROOMY)

    newer = answer(program, NEWEST + 1, architecture=AUDIT[machine])
    other_interface = answer(program, 0x4000_0000 + 1, architecture=AUDIT[machine])

    assert (newer, other_interface) == (UNKNOWN, UNKNOWN)


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_architecture_end_the_process(machine: str) -> None:
    program = seccomp_filter(machine, ROOMY)

    assert answer(program, 1, architecture=0x4000_0003) == KILLED


@pytest.mark.parametrize("machine", MACHINES)
def test_ordinary_calls_pass(machine: str) -> None:
    program = seccomp_filter(machine, STRICT)
    ordinary = set(range(NEWEST + 1)) - set(NUMBERS[machine].values())

    answers = {answer(program, number, architecture=AUDIT[machine]) for number in ordinary}

    assert answers == {ALLOWED}


def test_only_known_processors_are_supported() -> None:
    assert supported("x86_64")
    assert supported("aarch64")
    assert not supported("riscv64")
