"""What is shown of a conversation."""

from tests.engines.context.made import a_conversation, a_view, orphans

from pegboard.core.model_messages import SystemMessage, UserMessage
from pegboard.engines.context.token_estimate import measure_message
from pegboard.engines.context.view import ContextState, ResultNote


def test_a_view_without_a_state_is_the_conversation() -> None:
    messages, question = a_conversation([10], [10], history=1)
    view = a_view(messages, question)

    assert view.show() == tuple(messages)
    assert view.units == sum(map(measure_message, messages))


def test_what_is_left_out_is_said_and_what_people_say_to_the_run_stays() -> None:
    messages, question = a_conversation([10], [10], history=2)
    messages.insert(question + 3, UserMessage(text="in French"))
    view = a_view(messages, question, ContextState(omitted=question + 4))

    system, note, asked, steered, *rest = view.show()

    assert isinstance(system, SystemMessage)
    assert note.text.startswith("(10 earlier messages of this conversation are left out here.)")
    assert (asked.text, steered.text) == ("What now?", "in French")
    assert rest == messages[question + 4 :]
    assert view.units == sum(map(measure_message, view.show()))


def test_a_summary_stands_for_what_is_left_out() -> None:
    messages, question = a_conversation([10], history=1)
    view = a_view(messages, question, ContextState(omitted=question, summary="Ada owes 5."))

    assert view.show()[1].text.endswith("messages:)\nAda owes 5.")


def test_the_handles_of_what_is_left_out_are_named() -> None:
    messages, question = a_conversation([10], history=1)
    handle = f"pegboard://results/{7:024x}-p100"
    state = ContextState(omitted=question, notes=(ResultNote(3, f"stored as {handle}: read it"),))
    view = a_view(messages, question, state)

    assert f"by tool: read {handle})" in view.show()[1].text


def test_calls_and_results_are_one_place() -> None:
    messages, question = a_conversation([10, 10], [10])
    view = a_view(messages, question)

    assert view.starts() == [1, 2, 5]
    assert [view.last_turns(count) for count in (1, 2, 3)] == [5, 2, 1]
    assert all(not orphans(view.replace(omitted=start).show()) for start in view.starts())


def test_a_conversation_may_have_no_system_prompt() -> None:
    messages, question = a_conversation([10], [10])
    view = a_view(messages[1:], question - 1)

    assert view.starts() == [0, 1, 3]
    assert [message.text for message in view.replace(omitted=3).show()[1:]] == [
        "What now?",
        "turn 1",
        "1" * 10,
    ]
