"""Which results are trusted, and since which call a run has read others."""

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from msgspec import structs

from pegboard.access.argument_origins import trace_arguments
from pegboard.access.own_writes import OwnWrite, describe_write, find_same_write
from pegboard.access.result_values import ResultValues
from pegboard.core.argument_origin import ArgumentOrigins
from pegboard.core.context import ToolContext
from pegboard.core.ports.conversation_store import Conversation
from pegboard.core.ports.taint_store import Taint, TaintStore
from pegboard.core.principal import Principal
from pegboard.core.tool import ToolSpec
from pegboard.execution.result_memory import ResultMemory

_MAX_KNOWN = 10_000
_MAX_WRITES = 100
_REPEATED = "it repeats call {call}, and the caller has not written since"


async def _no_messages(_conversation: str, _principal: Principal) -> Sequence[str]:
    return ()


class TrustLedger:
    """Knows what the operator trusts, and stores which runs have read something else.

    All runs of one conversation, and all that they start, share one taint, which never goes away:
    what was read stays in the context of the model. A taint that is known is not read again; that
    there is none is asked of the store each time, since another server may have added it.

    Args:
        store: Stores taints.
        conversation_of: The conversation in which a run answers.
        messages_of: The messages that a caller has written in a conversation.
    """

    def __init__(
        self,
        store: TaintStore,
        conversation_of: Callable[[str], Awaitable[Conversation | None]],
        messages_of: Callable[[str, Principal], Awaitable[Sequence[str]]] = _no_messages,
    ) -> None:
        self._store = store
        self._conversation_of = conversation_of
        self._messages_of = messages_of
        self._results = ResultMemory()
        self._writes: OrderedDict[str, deque[OwnWrite]] = OrderedDict()
        self._sources: dict[str, bool] = {}
        self._subjects: OrderedDict[str, str] = OrderedDict()
        self._taints: OrderedDict[str, Taint] = OrderedDict()

    @property
    def sources(self) -> Mapping[str, bool]:
        """Whether the results of each source are trusted."""
        return self._sources

    def set_source(self, name: str, *, trusted: bool | None) -> None:
        """Say whether the results of a source are trusted; None leaves it to its tools."""
        if trusted is None:
            self._sources.pop(name, None)
        else:
            self._sources[name] = trusted

    def trusts(self, spec: ToolSpec) -> bool:
        """Whether the results of a tool are trusted: as its source is, else as it says itself."""
        return self._sources.get(spec.source, spec.trusted)

    async def find(self, ctx: ToolContext[Any]) -> Taint | None:
        """The call that brought untrusted text into the run of a call; None for none.

        Raises:
            Unavailable: The store cannot be read.
        """
        run = ctx.root_id or ctx.run_id
        return await self._find(await self._subject_of(run)) if run else None

    async def add(self, ctx: ToolContext[Any], taint: Taint) -> None:
        """Note that a call has brought untrusted text into its run, before the text is read.

        Raises:
            Unavailable: It could not be stored; the result must not be used.
        """
        run = ctx.root_id or ctx.run_id
        if run:
            await self._add(await self._subject_of(run), taint)

    async def note_write(
        self, ctx: ToolContext[Any], spec: ToolSpec, arguments: Mapping[str, Any], *, call_id: str
    ) -> OwnWrite:
        """Note a write before it runs, so that one that repeats it is known, also beside it.

        It is remembered in this process alone, and in conversations.
        """
        run = ctx.root_id or ctx.run_id
        write = describe_write(spec, arguments, call_id=call_id, run=run)
        subject = await self._subject_of(run)
        if subject != run:  # others have no messages
            noted = self._writes.setdefault(subject, deque(maxlen=_MAX_WRITES))
            noted.append(write)
            _remember(self._writes, subject, noted)
        return write

    async def forget_write(self, write: OwnWrite) -> None:
        """Forget a write that was not made, or has failed."""
        noted = self._writes.get(await self._subject_of(write.run))
        if noted is not None and write in noted:
            noted.remove(write)

    async def trace(
        self,
        ctx: ToolContext[Any],
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        *,
        write: OwnWrite,
    ) -> ArgumentOrigins | None:
        """Where the arguments of a call come from; None where its caller has written no message.

        Args:
            ctx: Of the call.
            spec: The tool.
            arguments: The validated arguments.
            write: The call, as it was noted.

        Raises:
            Unavailable: The store of the messages cannot be read.
        """
        subject = await self._subject_of(ctx.root_id or ctx.run_id)
        messages = await self._messages_of(subject, ctx.principal)
        if not messages:
            return None
        results = self._results.list(subject)
        found = trace_arguments(spec, arguments, messages=messages, results=results)
        if not found.are_named:
            return found
        earlier = takewhile(lambda item: item is not write, self._writes.get(subject, ()))
        repeated = find_same_write(write, earlier, carries_text=found.carries_text)
        if repeated is None:
            return found
        return structs.replace(found, reason=_REPEATED.format(call=repeated.call_id))

    async def remember(self, ctx: ToolContext[Any], values: ResultValues) -> None:
        """Remember what a result contains, to trace the arguments of later calls.

        It is remembered in this process alone. What is forgotten leads to more questions.
        """
        run = ctx.root_id or ctx.run_id
        subject = await self._subject_of(run)
        if subject != run:  # others have no messages
            self._results.add(subject, values)

    async def inherit(self, *, subject: str, ctx: ToolContext[Any]) -> None:
        """Give the run of a call the taint of something that it reads, as a memory of an agent."""
        taint = await self._find(subject)
        if taint is not None:
            await self.add(ctx, taint)

    async def bequeath(self, *, subject: str, ctx: ToolContext[Any]) -> None:
        """Give something that outlives the run of a call the taint of that run."""
        taint = await self.find(ctx)
        if taint is not None:
            await self._add(subject, taint)

    async def _find(self, subject: str) -> Taint | None:
        known = self._taints.get(subject)
        if known is None and (known := await self._store.find(subject)) is not None:
            _remember(self._taints, subject, known)
        return known

    async def _add(self, subject: str, taint: Taint) -> None:
        if subject not in self._taints:
            _remember(self._taints, subject, await self._store.add(subject, taint))

    async def _subject_of(self, run: str) -> str:
        """The conversation in which a run answers, else the run."""
        known = self._subjects.get(run)
        if known is None:
            conversation = await self._conversation_of(run)
            known = run if conversation is None else conversation.id
            _remember(self._subjects, run, known)
        return known


def _remember(into: OrderedDict[str, Any], key: str, value: object) -> None:
    into[key] = value
    while len(into) > _MAX_KNOWN:
        into.popitem(last=False)
