"""`pegboard chat ["QUESTION"]`: ask an agent, watch which tools it uses, approve calls."""

import sys
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    explicit_options,
    settings,
    with_client,
)
from pegboard.errors import Unavailable

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient
    from pegboard.features.conversations import ChatEvent

_CODES = {"completed": Exit.DONE, "waiting": Exit.UNAVAILABLE}


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

    It asks before calls that need approval. The text of the answer goes to stdout. Set the model
    with PEGBOARD_MODEL or OPENAI_BASE_URL.
    """
    session = _Session(
        conversation, agent=agent, model=model, engine=engine, files=file or [], json=json
    )

    async def talk(client: "BoardClient") -> str:
        if question:
            return await session.ask(client, question)
        state = "completed"
        for line in _lines():
            state = await session.ask(client, line)
        return state

    with exit_on_error(session.unfinished):
        state = with_client(settings(board, data, url, keep="write"), talk, opens="all")
    if state == "waiting":
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
        self.unfinished: dict[str, Any] = {}

    async def ask(self, client: "BoardClient", question: str) -> str:
        """Ask, print the answer, and return how it ended; `waiting` for an approval."""
        from pegboard.cli.output.chat import AnswerPrinter
        from pegboard.cli.output.tables import say_json

        files, self._files = self._files, []  # they come with the first question
        printer, events = AnswerPrinter(), list[dict[str, Any]]()
        answering = client.chat(
            question,
            conversation=self._conversation,
            agent=self._agent or None,
            model=self._model or None,
            engine=self._engine or None,
            files=files,
        )
        async with aclosing(answering):
            async for event in answering:
                self._conversation = str(event.data.get("conversation", self._conversation))
                if self._json:
                    events.append({"event": event.event, **event.data})
                    is_over = event.event == "done"
                    printer.state = str(event.data.get("state", "")) if is_over else ""
                else:
                    printer.print_event(event)
                if event.event == "question_required":
                    await self._answer(client, event)
                elif event.event == "credential_required":
                    await self._note_source(client, event)
                if event.event != "credential_required" and (
                    event.event != "approval_required" or await self._decide(client, event)
                ):
                    continue
                printer.state = "waiting"
                break
        if not printer.state:
            self.unfinished.update(conversation=self._conversation, events=events)
            raise Unavailable(
                f"The stream of conversation {self._conversation} ended before the answer: the "
                "server stopped, or the conversation was deleted."
            )
        if self._json:
            say_json({"conversation": self._conversation, "events": events})
        return printer.state

    async def _note_source(self, client: "BoardClient", event: "ChatEvent") -> None:
        """Say which call lacks a credential, and keep of which source."""
        from pegboard.cli.output.chat import describe_missing_credential
        from pegboard.cli.output.tables import note

        note(describe_missing_credential(event.data))
        shown = await client.show_approval(str(event.data["approval"]))
        self._source = str(shown.get("source", ""))

    async def _answer(self, client: "BoardClient", event: "ChatEvent") -> None:
        """Let the person at the terminal answer a tool; decline without a terminal."""
        from pegboard.cli.output.questions import (
            DECLINED,
            ask_question,
            describe_question,
            send_reply,
        )
        from pegboard.cli.output.tables import note

        reply = DECLINED
        if self._json or not (sys.stdin.isatty() and sys.stderr.isatty()):
            told = "Declined: there is no terminal to answer at."
            note(f"{describe_question(event.data)}\n{told}")
        else:
            reply = ask_question(event.data)
        conversation, question = self._conversation, str(event.data["question"])
        answer = client.conversations.answer_question
        await send_reply(reply, partial(answer, conversation, question))

    async def _decide(self, client: "BoardClient", event: "ChatEvent") -> bool:
        """Let the person at the terminal decide; False where nobody is there."""
        from pegboard.cli.output.chat import ask_for_scope, describe_approval
        from pegboard.cli.output.tables import note

        self._approval = str(event.data["approval"])
        if self._json or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        note(describe_approval(event.data))
        shown = await client.show_approval(self._approval)
        scope = ask_for_scope(shown.get("scopes") or ["once"])
        await client.decide_approval(
            self._approval, "deny" if scope is None else "approve", note="", scope=scope or "once"
        )
        return True

    def say_how_to_go_on(self, options: str) -> None:
        """Say how to decide the approval that the answer waits for, or to store a credential."""
        from pegboard.cli.output.tables import note

        if self._source:
            waits = (
                f"The answer waits for a credential of yours. Store one: "
                f"pegboard credentials add {self._source}{options}"
            )
        else:
            waits = (
                f"The answer waits for approval {self._approval}. Decide it: "
                f"pegboard approvals approve {self._approval}{options}"
            )
        note(
            f"{waits}\nGo on with the conversation: pegboard chat -c {self._conversation}{options}"
        )


def _lines() -> Any:
    """The questions of the input, with a prompt at a terminal."""
    is_person = sys.stdin.isatty() and sys.stderr.isatty()
    while True:
        if is_person:
            sys.stderr.write("> ")
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return
        if line.strip():
            yield line.strip()
