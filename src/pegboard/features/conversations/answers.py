"""The runs that answer messages: started, and stored in the conversation when they have ended."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from msgspec import structs

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.event import Event, RunEnded
from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.model_messages import AssistantMessage, UserMessage, to_dict
from pegboard.core.ports.conversation_store import (
    Conversation,
    ConversationStore,
    Exchange,
    ExchangeState,
)
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.knowledge.bases import AnswerCiter
from pegboard.core.ports.run_store import RunStore
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.result import error_to_dict
from pegboard.core.run import RunResult
from pegboard.errors import PegboardError
from pegboard.features.conversations.message_files import describe_message
from pegboard.features.conversations.unfinished_text import read_unfinished_text
from pegboard.features.runs import Runs
from pegboard.features.runs.start import run_id_for

_LOG = logging.getLogger("pegboard.conversations")
CHAT = "chat"
"""The name of the graphs that answer messages."""
_NODE = "agent"

_END_STATES: Mapping[NodeState, ExchangeState] = {
    NodeState.COMPLETED: "completed",
    NodeState.FAILED: "failed",
    NodeState.CANCELLED: "cancelled",
}


def _ignore(_conversation: str) -> None:
    pass


def run_key_of(message: str) -> str:
    """The idempotency key of the run that answers a message; no header can carry its line break."""
    return f"message\n{message}"


def chat_graph(exchange: Exchange, conversation: Conversation) -> Graph:
    """The graph that answers a message: one agent, or one goal where an engine is named.

    A conversation with a named agent leaves the engine to that agent.
    """
    engine = conversation.engine or ("own" if conversation.agent else "react")
    config = {
        "agent": conversation.agent,
        "conversation": conversation.id,
        "message": exchange.id,
        "model": conversation.model,
        "engine": "" if engine == "react" else engine,
    }
    node = Node(
        id=_NODE,
        kind="agent" if engine == "react" else "goal",
        input={"message": "$.params.message"},
        config={name: value for name, value in config.items() if value},
    )
    params = {
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
    }
    return Graph(nodes=(node,), name=CHAT, params=params, output=f"$.steps.{_NODE}.output")


class ConversationAnswers:
    """Starts the runs that answer messages, and stores how they end.

    Args:
        store: Stores conversations.
        runs: Starts runs.
        run_store: Where runs are stored.
        now: Unix seconds.
        citer: Checks what answers cite; None where there is nothing to cite.
        every: Seconds after which `recover` looks again for what other servers have left; None
            where there are no others.

    Attributes:
        changed: Called with a conversation whenever one of its exchanges has changed.
    """

    def __init__(
        self,
        store: ConversationStore,
        *,
        runs: Runs,
        run_store: RunStore,
        now: Callable[[], float],
        citer: AnswerCiter | None = None,
        every: float | None = None,
    ) -> None:
        self._citer = citer
        self._every = every
        self._following: asyncio.Task[None] | None = None
        self.changed: Callable[[str], None] = _ignore
        self._store = store
        self._runs = runs
        self._run_store = run_store
        self._now = now
        self._starts: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def start(self, exchange: Exchange) -> None:
        """Start the run that answers an exchange; starting it again has no effect.

        Raises:
            PegboardError: It cannot be answered; the exchange has failed with this error.
        """
        error = await self._start(exchange)
        if error is not None:
            raise error

    async def catch_up(self, exchange: Exchange, *, wait: bool = False) -> None:
        """Store the end of an exchange if its run has ended; start the run if it never began.

        Args:
            exchange: One that is being answered.
            wait: Whether to wait until the run has ended, or waits for a person.
        """
        while (starting := self._starts.get(exchange.id)) is not None:
            await starting.wait()
        run = await self._run_store.get(exchange.run_id)
        if run is None:
            known = await self._store.exchange(exchange.id)
            if known is not None and known.state == "working":
                await self._start(known)  # an error is that of the exchange, not of the caller
            return
        if wait and run.finished_at is None:
            await self._runs.wait(exchange.run_id, principal=run.start.principal)
            run = await self._run_store.get(exchange.run_id)
        if run is None or run.finished_at is None or run.result is None:
            return
        ended, received = read_end(exchange, run.result, run.finished_at)
        if ended.state != "completed":
            ended = await self._add_last_turn(ended, received, run.start.principal)
        await self._finish(await self._cite(ended), steered=received)

    async def _add_last_turn(
        self, ended: Exchange, received: Collection[str], principal: Principal
    ) -> Exchange:
        """An exchange with what belongs to the turn in which its run ended.

        This is what its agent had read for that turn, and the text that it had written.
        """
        messages: list[Mapping[str, Any]] = list(ended.messages)
        number = ended.number
        while item := await self._store.next_exchange(
            ended.conversation, number=number, states={"steered"}
        ):
            if item.read_by == ended.id and item.id not in received:
                messages.append(to_dict(UserMessage(text=describe_message(item))))
            number = item.number + 1
        text = await read_unfinished_text(
            self._runs.events(ended.run_id, principal=principal),
            node=_NODE,
            finished_turns=sum(item.get("role") == "assistant" for item in messages),
        )
        if text:
            messages.append(to_dict(AssistantMessage(text=text)))
        return structs.replace(ended, answer=text or ended.answer, messages=tuple(messages))

    async def _cite(self, ended: Exchange) -> Exchange:
        """An exchange whose answer has only numbers that were checked."""
        if self._citer is None or not ended.answer:
            return ended
        cited = await self._citer.cite(ended.answer, ended.run_id, question=ended.text)
        messages = [
            {**item, "text": cited.text}
            if item.get("role") == "assistant" and item.get("text") == ended.answer
            else item
            for item in ended.messages
        ]
        return structs.replace(
            ended,
            answer=cited.text,
            messages=tuple(messages),
            citations=cited.citations,
            conflicts=cited.conflicts,
            left_out=cited.left_out,
        )

    async def recover(self) -> None:
        """Continue what an earlier process left: answers that ended, and runs that never began.

        Where there are other servers, what one of them leaves later is continued too.
        """
        await self._catch_up_all(await self._store.working())
        if self._every is not None and self._following is None:
            self._following = asyncio.create_task(
                self._follow_others(self._every), name="continue the answers of other servers"
            )

    async def _catch_up_all(self, exchanges: Sequence[Exchange]) -> None:
        """Continue those whose runs have ended or never began: others may wait for days."""
        unfinished = await self._run_store.find_unfinished([item.run_id for item in exchanges])
        for exchange in exchanges:
            if exchange.run_id in unfinished:
                continue
            with log_and_continue(_LOG, f"conversations: message {exchange.id} is not answered"):
                await self.catch_up(exchange)

    async def _follow_others(self, every: float) -> None:
        known = frozenset[str]()
        while True:
            await asyncio.sleep(every)
            with log_and_continue(_LOG, "conversations: messages are not looked through"):
                working = await self._store.working()
                # a server that has just sent a message gets the time to begin its run
                await self._catch_up_all([item for item in working if item.id in known])
                known = frozenset(item.id for item in working)

    def on_event(self, event: Event) -> None:
        """Store the end of a run that answers a message."""
        if not isinstance(event, RunEnded) or event.graph != CHAT or self._closed:
            return
        task = asyncio.get_running_loop().create_task(self._settle(event.run_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait for ends that are being stored."""
        self._closed = True
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _settle(self, run_id: str) -> None:
        with log_and_continue(_LOG, f"conversations: the end of run {run_id} is not stored yet"):
            exchange = await self._store.of_run(run_id)
            if exchange is None:
                await self._forget_run(run_id)
            elif exchange.state == "working":
                await self.catch_up(exchange, wait=True)

    async def _forget_run(self, run_id: str) -> None:
        """Delete a run whose message was deleted before the run had ended."""
        run = await self._run_store.get(run_id)
        if run is not None and answers_message(run.start):
            await self._runs.wait(run_id, principal=run.start.principal)
            await self._run_store.forget_runs((run_id,))

    async def _start(self, exchange: Exchange) -> PegboardError | None:
        """Start the run of an exchange; the error with which the exchange has failed instead."""
        if (starting := self._starts.get(exchange.id)) is not None:
            await starting.wait()
            return None
        started = self._starts[exchange.id] = asyncio.Event()
        try:
            conversation = await self._store.get(exchange.conversation)
            if conversation is None:
                return None
            await self._runs.start_graph(
                chat_graph(exchange, conversation),
                {"message": describe_message(exchange)},
                principal=_principal_of(exchange, conversation),
                key=run_key_of(exchange.id),
            )
        except PegboardError as error:
            failed = structs.replace(
                exchange, state="failed", error=error_to_dict(error), finished_at=self._now()
            )
            await self._finish(failed)
            return error
        finally:
            del self._starts[exchange.id]
            started.set()
        return None

    async def _finish(self, ended: Exchange, *, steered: tuple[str, ...] = ()) -> None:
        end = await self._store.finish(ended, steered=steered)
        if end is None:
            return
        self.changed(ended.conversation)
        if end.next is not None:
            with log_and_continue(_LOG, f"conversations: message {end.next.id} is not answered"):
                await self.start(end.next)
            self.changed(ended.conversation)


def read_end(
    exchange: Exchange, result: RunResult, finished_at: float
) -> tuple[Exchange, tuple[str, ...]]:
    """An exchange as its run has ended, and the messages that the run has taken up."""
    output: Mapping[str, Any] = (result.nodes[0].output if result.nodes else None) or {}
    ended = structs.replace(
        exchange,
        state=_END_STATES.get(result.state, "failed"),
        answer=str(output.get("text", "")),
        finish=output.get("finish", "stop"),
        messages=tuple(output.get("messages") or ()),
        usage=output.get("usage") or {},
        error=result.error,
        finished_at=finished_at,
    )
    return ended, tuple(output.get("received") or ())


def answers_message(start: RunStart) -> bool:
    """Whether a run was started for a message: no other run of a chat graph has the id of one."""
    nodes: Sequence[Mapping[str, Any]] = start.graph.get("nodes") or ()
    configs: list[Mapping[str, Any]] = [node.get("config") or {} for node in nodes]
    messages = [str(config.get("message", "")) for config in configs]
    return start.run_id in {run_id_for(start.principal, run_key_of(it)) for it in messages}


def _principal_of(exchange: Exchange, conversation: Conversation) -> Principal:
    """The caller for whom a message is answered: who sent it."""
    if exchange.principal is not None:
        return exchange.principal
    if conversation.principal == LOCAL.id and conversation.tenant == LOCAL.tenant:
        return LOCAL
    return Principal(id=conversation.principal, tenant=conversation.tenant)
