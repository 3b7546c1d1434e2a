"""What keys may do with services: to read, to change, or neither."""

from collections.abc import AsyncGenerator

import pytest

from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Effect
from pegboard.errors import AccessDenied
from pegboard.features.key_limits import check_key, limit_keys


def a_caller(*scopes: str, key: str = "key_1") -> Principal:
    return Principal(id="u_1", user="u_1", key=key, scopes=frozenset(scopes))


SESSION = a_caller(key="")
READER = a_caller("/tools:read")
WRITER = a_caller("/tools:write")
AUDITOR = a_caller("audit:read")


@limit_keys("notes", reads=("find", "watch"), free=("count",), instead="notes:all")
class Notes:
    async def find(self, *, principal: Principal) -> str:
        return f"found by {principal.id}"

    async def watch(self, *, principal: Principal) -> AsyncGenerator[str]:
        yield f"seen by {principal.id}"

    async def add(self, text: str, *, principal: Principal) -> str:
        return f"{text} by {principal.id}"

    def count(self, *, principal: Principal) -> int:
        return len(principal.scopes)

    def close(self) -> str:
        return "closed"


@pytest.mark.parametrize("caller", [SESSION, LOCAL, WRITER], ids=["session", "local", "writer"])
async def test_sessions_and_keys_that_write_may_do_all(caller: Principal) -> None:
    notes = Notes()

    assert await notes.add("x", principal=caller) == f"x by {caller.id}"
    assert await notes.find(principal=caller) == f"found by {caller.id}"
    assert [it async for it in notes.watch(principal=caller)] == [f"seen by {caller.id}"]


async def test_a_key_that_reads_changes_nothing() -> None:
    notes = Notes()

    assert await notes.find(principal=READER) == "found by u_1"
    with pytest.raises(AccessDenied, match=r"'notes' denied: the key lacks the scope tools:write"):
        await notes.add("x", principal=READER)


async def test_a_key_for_something_else_does_not_even_read() -> None:
    notes = Notes()

    with pytest.raises(AccessDenied, match="the key lacks the scope tools:read"):
        await notes.find(principal=AUDITOR)
    with pytest.raises(AccessDenied, match="the key lacks the scope tools:read"):
        notes.watch(principal=AUDITOR)
    assert notes.count(principal=AUDITOR) == 1
    assert notes.close() == "closed"


async def test_another_scope_may_be_enough_to_read_and_never_to_change() -> None:
    notes, caller = Notes(), a_caller("notes:all")

    assert await notes.find(principal=caller) == "found by u_1"
    with pytest.raises(AccessDenied):
        await notes.add("x", principal=caller)


def test_a_scope_may_be_enough_for_a_single_check() -> None:
    check_key(a_caller("runs:all"), "runs", Effect.WRITE, instead="runs:all")

    with pytest.raises(AccessDenied):
        check_key(AUDITOR, "runs", Effect.WRITE, instead="runs:all")
