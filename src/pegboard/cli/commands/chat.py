"""`pegboard chat ["QUESTION"]`: ask an agent, watch which tools it uses, approve calls."""

import sys
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from pegboard.cli.exit_codes import INTERRUPTED, Exit, exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    explicit_options,
    settings,
    with_client,
)
from pegboard.errors import InvalidRequest, Unavailable

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator, Mapping

    from pegboard.cli.client.port import BoardClient
    from pegboard.cli.input_lines import InputLines
    from pegboard.cli.interrupts import AnswerInterrupts
    from pegboard.features.conversations import ChatEvent

_CODES = {
    "completed": Exit.DONE,
    "waiting": Exit.UNAVAILABLE,
    "interrupted": INTERRUPTED,
    "left": INTERRUPTED,
}


def chat(
    question: Annotated[
        str, typer.Argument(help="The question; without one, each line of the input is one.")
    ] = "",
    *,
    conversation: Annotated[
        str, typer.Option("--conversation", "-c", help="The conversation to continue.")
    ] = "",
    agent: Annotated[str, typer.Option(help="The agent that answers.")] = "",
    model: Annotated[
        str, typer.Option(help="The model that answers: one that the board names.")
    ] = "",
    engine: Annotated[
        str,
        typer.Option(help="`react`: one agent; `dag`: a goal of several steps; `auto`: either."),
    ] = "",
    file: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            readable=True,
            help="A file for the workspace of the conversation; repeatable.",
        ),
    ] = None,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Ask an agent, which uses the tools of the board.

    It asks before calls that need approval. The text of the answer goes to stdout. Ctrl-C stops
    the answer; without a QUESTION the next one can be asked then. Set the model with
    PEGBOARD_MODEL or OPENAI_BASE_URL.
    """
    session = _Session(
        conversation, agent=agent, model=model, engine=engine, files=file or [], json=json
    )

    async def talk(client: "BoardClient") -> str:
        return await (session.ask(client, question) if question else session.ask_lines(client))

    with exit_on_error(session.unfinished):
        state = with_client(settings(board, data, url, keep="write"), talk, opens="all")
    if state in {"waiting", "left"}:
        session.say_how_to_go_on(explicit_options(board, data, url))
    raise typer.Exit(_CODES.get(state, Exit.FAILED))


class _Session:
    """A conversation at a terminal.

    Attributes:
        unfinished: The events of an answer that ended too early.
    """

    def __init__(
        self,
        conversation: str,
        *,
        agent: str,
        model: str,
        engine: str,
        files: list[Path],
        json: bool,
    ) -> None:
        self._conversation = conversation
        self._agent = agent
        self._model = model
        self._engine = engine
        self._files = files
        self._json = json
        self._approval = ""
        self._source = ""
        self._run = self._queued = ""
        self._has_left = self._is_replayed = False
        self.unfinished: dict[str, Any] = {}

    async def ask_lines(self, client: "BoardClient") -> str:
        """Ask each line of the input; how the last answer ended, or `left` for Ctrl-C."""
        from pegboard.cli.input_lines import InputLines
        from pegboard.cli.interrupts import ask_or_leave

        state, is_told, lines = "completed", False, InputLines()
        if self._conversation:
            state = await self.follow_last(client, if_open=not _is_person())
            is_told = state != "none"
            if state in {"waiting", "left"}:
                return state
            if _is_person():  # who has only seen again how an earlier answer ended
                state = "completed"
        while True:
            line = await ask_or_leave(_ask_for_line(lines))
            if line is None:
                return "left"
            if not line:
                break
            if line.strip():
                is_told = True
                state = await self.ask(client, line.strip())
            if state == "left" or (state == "interrupted" and not _is_person()):
                return state
        if self._conversation and not is_told:  # a server may have ended it meanwhile
            state = await self.follow_last(client, if_open=False)
        return "completed" if state == "none" else state

    async def follow_last(self, client: "BoardClient", *, if_open: bool) -> str:
        """Print the answer to the last message, which a decision may have let go on.

        Args:
            client: The board.
            if_open: Whether to leave out an answer that has ended.

        Returns:
            As `ask`; `none` where there is nothing to print.
        """
        self._is_replayed = True
        try:
            events = client.conversations.follow_last(self._conversation, if_open=if_open)
            return await self._print(client, events)
        finally:
            self._is_replayed = False

    async def ask(self, client: "BoardClient", question: str) -> str:
        """Ask, print the answer, and return how it ended.

        Returns:
            The state of the answer; `waiting` for an approval; `interrupted` if Ctrl-C stopped it,
            and `left` if Ctrl-C was pressed again before that.
        """
        state = await self._print(client, self._send(client, question))
        if state == "none":
            self._fail([])
        return state

    async def _print(self, client: "BoardClient", sent: "AsyncGenerator[ChatEvent]") -> str:
        """Print an answer, and ask the person what it asks."""
        import asyncio

        from pegboard.cli.interrupts import AnswerInterrupts
        from pegboard.cli.output.call_order import in_call_order
        from pegboard.cli.output.chat import AnswerPrinter
        from pegboard.cli.output.tables import note, say_json

        printer, events = AnswerPrinter(), list[dict[str, Any]]()
        begun, has_any = asyncio.Event(), False
        self._approval = self._source = self._run = self._queued = ""
        async with (
            AnswerInterrupts(partial(self._stop, client, begun)) as interrupts,
            aclosing(in_call_order(sent)) as answering,
        ):
            async for event in answering:
                self._keep_ids(event)
                has_any = True
                begun.set()
                if self._json:
                    events.append({"event": event.event, **event.data})
                    is_over = event.event == "done"
                    printer.state = str(event.data.get("state", "")) if is_over else ""
                else:
                    printer.print_event(event)
                if not await self._react(client, event, interrupts):
                    printer.state = "waiting"
                    break
            begun.set()  # without an event there is nothing to stop
        if interrupts.has_left:
            self._has_left = True
            return "left"
        if not has_any:
            return "none"
        if not printer.state:
            self._fail(events)
        if self._json:
            say_json({"conversation": self._conversation, "events": events})
        if interrupts.is_pressed and printer.state != "completed":
            note("Stopped.")
            return "interrupted"
        return printer.state

    def _fail(self, events: list[dict[str, Any]]) -> NoReturn:
        """Keep what there was of an answer that has not ended, and raise why."""
        self.unfinished.update(conversation=self._conversation, events=events)
        raise Unavailable(
            f"The stream of conversation {self._conversation} ended before the answer: the "
            "server stopped, or the conversation was deleted."
        )

    def _send(self, client: "BoardClient", question: str) -> "AsyncGenerator[ChatEvent]":
        """Send a question; the events of its answer."""
        files, self._files = self._files, []  # they come with the first question
        return client.chat(
            question,
            conversation=self._conversation,
            agent=self._agent or None,
            model=self._model or None,
            engine=self._engine or None,
            files=files,
        )

    def _keep_ids(self, event: "ChatEvent") -> None:
        """Keep what stops the answer, and continues the conversation."""
        self._conversation = str(event.data.get("conversation", self._conversation))
        self._run = str(event.data.get("run_id", self._run))
        self._queued = str(event.data["message"]) if event.event == "message_queued" else ""

    async def _stop(self, client: "BoardClient", begun: "asyncio.Event") -> None:
        """Stop the answer, or withdraw a question that still waits for the answer before it."""
        await begun.wait()
        if self._queued:
            with suppress(InvalidRequest):  # it waits no more
                await client.conversations.withdraw(self._conversation, self._queued)
                return
        if self._conversation:
            await client.conversations.stop(self._conversation)

    async def _react(
        self, client: "BoardClient", event: "ChatEvent", interrupts: "AnswerInterrupts"
    ) -> bool:
        """Ask the person what an event asks; False if the command cannot get what it needs."""
        if self._is_replayed and await _is_settled(client, event, self._run):
            return True
        match event.event:
            case "question_required":
                await self._answer(client, event, interrupts)
            case "credential_required":
                await self._note_source(client, event)
                return False
            case "approval_required":
                return await self._decide(client, event, interrupts)
            case _:
                pass
        return True

    async def _note_source(self, client: "BoardClient", event: "ChatEvent") -> None:
        """Say which call lacks a credential, and keep of which source."""
        from pegboard.cli.output.chat import describe_missing_credential
        from pegboard.cli.output.tables import note

        note(describe_missing_credential(event.data))
        shown = await client.show_approval(str(event.data["approval"]))
        self._source = str(shown.get("source", ""))

    async def _answer(
        self, client: "BoardClient", event: "ChatEvent", interrupts: "AnswerInterrupts"
    ) -> None:
        """Let the person at the terminal answer a tool; decline without a terminal."""
        from pegboard.cli.output.questions import (
            DECLINED,
            ask_beside,
            ask_question,
            describe_question,
            send_reply,
        )
        from pegboard.cli.output.tables import note

        reply = None
        if self._json or not _is_person():
            told = "Declined: there is no terminal to answer at."
            note(f"{describe_question(event.data)}\n{told}")
        else:
            reply = await interrupts.ask(ask_beside(partial(ask_question, event.data)))
        if interrupts.is_pressed:
            return
        conversation, question = self._conversation, str(event.data["question"])
        answer = client.conversations.answer_question
        await send_reply(reply or DECLINED, partial(answer, conversation, question))

    async def _decide(
        self, client: "BoardClient", event: "ChatEvent", interrupts: "AnswerInterrupts"
    ) -> bool:
        """Let the person at the terminal decide; False where nobody is there."""
        from pegboard.cli.output.chat import ask_for_scope, describe_approval
        from pegboard.cli.output.questions import ask_beside
        from pegboard.cli.output.tables import note

        self._approval = str(event.data["approval"])
        if self._json or not _is_person():
            return False
        note(describe_approval(event.data))
        shown = await client.show_approval(self._approval)
        offered = partial(ask_for_scope, shown.get("scopes") or ["once"])
        scope = await interrupts.ask(ask_beside(offered))
        if interrupts.is_pressed or scope is None:
            return interrupts.is_pressed  # the end of the input decides nothing
        await client.decide_approval(
            self._approval,
            "deny" if scope == "no" else "approve",
            note="",
            scope="once" if scope == "no" else scope,
        )
        return True

    def say_how_to_go_on(self, options: str) -> None:
        """Say how to continue the conversation, after what the answer waits for."""
        from pegboard.cli.output.tables import note

        if self._has_left:
            waits = (
                f"The answer may go on. Stop it: pegboard runs cancel {self._run}{options}"
                if self._run
                else "The answer may go on."
            )
        elif self._source:
            waits = (
                f"The answer waits for a credential of yours. Store one: "
                f"pegboard credentials add {self._source}{options}"
            )
        elif not self._approval:
            waits = ""
        else:
            waits = (
                f"The answer waits for approval {self._approval}. Decide it: "
                f"pegboard approvals approve {self._approval}{options}"
            )
        if waits:
            note(waits)
        if self._conversation:
            note(f"Go on with the conversation: pegboard chat -c {self._conversation}{options}")


async def _is_settled(client: "BoardClient", event: "ChatEvent", run: str) -> bool:
    """Whether what an event of an earlier time asks was decided or answered since."""
    if event.event == "question_required":
        asked: list[Mapping[str, Any]] = (await client.show_run(run)).get("questions") or []
        return all(item["id"] != event.data["question"] for item in asked)
    if "approval" not in event.data:
        return False
    return (await client.show_approval(str(event.data["approval"])))["state"] != "pending"


async def _ask_for_line(lines: "InputLines") -> str:
    """The next line of the input; the prompt comes once Ctrl-C ends it."""
    if _is_person():
        sys.stderr.write("> ")
        sys.stderr.flush()
    return await lines.read()


def _is_person() -> bool:
    """Whether a person is at a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()
