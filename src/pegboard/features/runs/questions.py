"""What tools ask a person while a run calls them: open questions, and their answers."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from pegboard.core.ports.run_store import RUN_TAKEN_OVER, RunEvent, RunStore, StoredRun
from pegboard.core.principal import Principal
from pegboard.core.run import PendingStep
from pegboard.errors import AlreadyAnswered, InvalidRequest, RunNotFound
from pegboard.features.key_limits import limit_keys
from pegboard.features.permissions import check_may_control_run, may_see_run
from pegboard.features.runs.audit_events import answer_event
from pegboard.features.runs.event_feed import read_events
from pegboard.graphs import GraphRunner
from pegboard.graphs.call_questions import QUESTION_REQUIRED, QUESTION_SETTLED, STATES
from pegboard.registry import ToolRegistry
from pegboard.schemas.validator import compile_schema, output_problem

QuestionAction = Literal["accept", "decline", "cancel"]
_MAX_CONTENT = 65_536
"""Characters of an answer as JSON."""
_MAX_NUMBER = 2**53
_ENDS = frozenset({RUN_TAKEN_OVER, "run_finished"})
"""Kinds of events after which no call waits for the questions before them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuestion:
    """A question of a tool that waits for its answer.

    Attributes:
        step: The step whose call waits.
        tool: The tool that asks.
        source: The source of the tool; empty for a function.
        source_kind: The kind of the source: `mcp`, ...
        text: As the tool wrote it: foreign text.
        schema: JSON Schema of the answer; None where a page is opened.
        url: The page to open; empty for a form.
        asked_at: Unix seconds.
        expires_at: Unix seconds at which the tool is told that nobody answered.
    """

    id: str
    step: str
    tool: str
    source: str
    source_kind: str
    text: str
    url: str
    asked_at: float
    expires_at: float
    schema: Mapping[str, Any] | None = field(default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data."""
        return asdict(self)


def find_open_questions(events: Iterable[RunEvent]) -> tuple[RunQuestion, ...]:
    """The questions that wait for an answer, oldest first."""
    found: dict[str, RunQuestion] = {}
    for event in events:
        if event.kind == QUESTION_REQUIRED:
            question = _read_question(event)
            found[question.id] = question
        elif event.kind == QUESTION_SETTLED:
            found.pop(str(event.data.get("question", "")), None)
        elif event.kind in _ENDS:
            found.clear()
    return tuple(found.values())


async def settle_lost_questions(store: RunStore, run_id: str, *, at: float) -> None:
    """Store that nobody waits for the open questions of a run: the process that asked has ended.

    Args:
        store: Stores the events.
        run_id: The run, which another process is about to continue.
        at: Unix seconds.
    """
    lost = [
        RunEvent(
            kind=QUESTION_SETTLED,
            at=at,
            data={**_place_of(event), "question": event.data["question"], "state": "lost"},
        )
        for event in await _read_open(store, run_id)
    ]
    if lost:
        await store.emit(run_id, lost)


@limit_keys("runs", reads=("answer",))  # it checks its effect once the run is known
class RunQuestions:
    """Answers questions of tools, of runs that the caller may see.

    Args:
        registry: Its call environment emits events.
        store: Stores runs and their events.
        runner: Executes the runs.
    """

    def __init__(self, registry: ToolRegistry, store: RunStore, runner: GraphRunner) -> None:
        self._registry = registry
        self._store = store
        self._runner = runner

    async def answer(
        self,
        run_id: str,
        question: str,
        action: QuestionAction,
        content: Mapping[str, Any] | None = None,
        *,
        principal: Principal,
    ) -> str:
        """Answer what a tool asks while a run calls it; the state of the question after that.

        Args:
            run_id: The run.
            question: The id of the question.
            action: `accept` with the content, or `decline`, or `cancel` to dismiss it.
            content: What the form asks for; nothing for a page.
            principal: The caller.

        Raises:
            RunNotFound: The run or the question does not exist, or the caller may not see it.
            AccessDenied: The key of the caller may not control the run.
            AlreadyAnswered: Another answer came first, or its call has ended.
            InvalidRequest: The content does not fit the form.
        """
        run = await self._store.get(run_id)
        if run is None or not may_see_run(principal, run):
            raise RunNotFound(f"There is no run '{run_id[:100]}'.")
        check_may_control_run(principal, run)
        asked = await self._find(run, question)
        answer: dict[str, Any] = {"action": action}
        if action == "accept" and not asked.url:
            answer["content"] = _check_content(asked, content or {})
        elif content:
            raise InvalidRequest("Only an accepted form has a content.")
        if action not in get_args(QuestionAction):
            raise InvalidRequest(f"There is no action '{action}'.")
        await self._runner.answer_question(run_id, question, answer, by=principal.owner)
        environment = self._registry.environment
        pending = PendingStep(id=question, step=asked.step, kind="person", choices=tuple(STATES))
        environment.emitter.emit(
            answer_event(
                run,
                pending,
                {"answer": action, **answer},
                principal=principal,
                at=environment.now(),
            )
        )
        return STATES[action]

    async def _find(self, run: StoredRun, question: str) -> RunQuestion:
        events = await read_events(self._store, run.start.run_id)
        for item in find_open_questions(events):
            if item.id == question:
                return item
        was_asked = any(
            event.kind == QUESTION_REQUIRED and event.data.get("question") == question
            for event in events
        )
        if was_asked:
            raise AlreadyAnswered(
                "The question was answered already, its time was up, or its call has ended."
            )
        raise RunNotFound(f"The run asks no question '{question[:100]}'.")


def _check_content(asked: RunQuestion, content: Mapping[str, Any]) -> dict[str, Any]:
    validator = compile_schema("answer", asked.schema or {})
    if problem := output_problem(validator, content):
        raise InvalidRequest(f"The answer does not fit the form: {problem}")
    if len(json.dumps(content)) > _MAX_CONTENT:
        raise InvalidRequest("The answer is too long.")
    if any(isinstance(it, (int, float)) and abs(it) > _MAX_NUMBER for it in content.values()):
        raise InvalidRequest("A number of the answer is too large.")
    return dict(content)


def _read_question(event: RunEvent) -> RunQuestion:
    data = event.data
    return RunQuestion(
        id=str(data["question"]),
        step=str(data.get("node", "")),
        tool=str(data.get("tool", "")),
        source=str(data.get("source", "")),
        source_kind=str(data.get("source_kind", "")),
        text=str(data.get("text", "")),
        schema=data.get("schema"),
        url=str(data.get("url", "")),
        asked_at=event.at,
        expires_at=float(data.get("expires_at", 0.0)),
    )


async def _read_open(store: RunStore, run_id: str) -> list[RunEvent]:
    """The events of the open questions of a run."""
    events = await read_events(store, run_id)
    settled = {e.data.get("question") for e in events if e.kind == QUESTION_SETTLED}
    return [
        event
        for event in events
        if event.kind == QUESTION_REQUIRED and event.data["question"] not in settled
    ]


def _place_of(event: RunEvent) -> dict[str, Any]:
    names = ("node", "turn", "call", "tool", "source", "source_kind")
    return {name: event.data[name] for name in names if name in event.data}
