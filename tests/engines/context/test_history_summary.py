"""Layer 3: what a summary is made from, and how long it is."""

from tests.engines.context.made import a_conversation, a_view

from pegboard.core.model_messages import (
    AssistantMessage,
    ModelRequest,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pegboard.engines.context.history_summary import HistorySummary, summarize_history
from pegboard.engines.context.view import ContextState, ContextView, ResultNote
from pegboard.testing import ScriptedModel, Turn


async def summary_of(
    view: ContextView, text: str = "Short.", *, room: int = 3_000, model_room: int = 3_000
) -> tuple[HistorySummary | None, list[ModelRequest]]:
    model = ScriptedModel(Turn(text=text))
    found = await summarize_history(view, model, keep_turns=1, room=room, model_room=model_room)
    return found, model.requests


async def test_everything_before_the_last_turn_is_summed_up() -> None:
    messages, question = a_conversation([2_000], [3_000], [10], history=1)
    call = ToolCall(id="x", name="refund", arguments='{"order": 17}')
    messages[question + 1 : question + 1] = [
        UserMessage(text="(More tools.)", is_note=True),
        AssistantMessage(text="I refund it.", calls=(call,)),
        ToolMessage(call_id="x", name="refund", text="No such order.", is_error=True),
    ]
    view = a_view(messages, question)
    found, (request,) = await summary_of(view, "Order 17 is unknown.")
    system, transcript = request.messages

    assert found is not None
    assert (found.start, found.text) == (view.last_turns(1), "Order 17 is unknown.")
    assert "at most 150 words" in system.text
    for line in (
        "Person: question 0",
        "Assistant: answer 0",
        "Assistant: I refund it.",
        'Call of refund: {"order": 17}',
        "Error of refund: No such order.",
        "Person: What now?",
    ):
        assert line in transcript.text.splitlines()
    assert "turn 2" not in transcript.text
    assert "More tools" not in transcript.text
    assert request.tools == ()


async def test_the_earlier_summary_and_notes_are_part_of_the_next_one() -> None:
    messages, question = a_conversation([2_000], [2_000], [2_000], [10])
    note = ResultNote(5, "stored as pegboard://results/1")
    state = ContextState(omitted=4, summary="Ada is in Rome.", notes=(note,))
    _, (request,) = await summary_of(a_view(messages, question, state))

    lines = request.messages[1].text.splitlines()
    assert lines[0] == "Summary of what came before: Ada is in Rome."
    assert lines[3].endswith("stored as pegboard://results/1")


async def test_little_is_not_summed_up() -> None:
    messages, question = a_conversation([400], [10])
    found, requests = await summary_of(a_view(messages, question))

    assert found is None
    assert requests == []


async def test_what_goes_to_and_comes_from_the_model_is_bounded() -> None:
    messages, question = a_conversation(*[[900] * 20] * 4, [10])
    found, (request,) = await summary_of(a_view(messages, question), "ü" * 9_000, model_room=2_000)

    assert found is not None
    assert len(request.messages[1].text) <= 3_003
    assert len(found.text.encode()) <= 905


async def test_an_empty_answer_is_no_summary() -> None:
    messages, question = a_conversation([2_000], [2_000], [10])
    found, _ = await summary_of(a_view(messages, question), " ")

    assert found is None
