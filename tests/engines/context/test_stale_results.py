"""Layer 2: which results are cleared, and that their handles work."""

from tests.engines.context.made import Shelf, a_conversation, a_view

from pegboard.engines.context.stale_results import clear_stale_results


async def test_the_oldest_results_go_first_until_a_request_is_small_enough() -> None:
    messages, question = a_conversation([6_000], [6_000], [6_000], [6_000])
    shelf = Shelf()
    view = a_view(messages, question)
    cleared = await clear_stale_results(view, shelf.store, keep_turns=1, target=5_000)

    assert [note.index for note in cleared.state.notes] == [3, 5]
    assert cleared.tokens <= 5_000 < view.tokens
    for note, (handle, text) in zip(cleared.state.notes, shelf.texts.items(), strict=True):
        assert handle in note.text
        assert text == messages[note.index].text


async def test_the_last_turns_keep_their_results() -> None:
    messages, question = a_conversation([6_000], [6_000, 6_000])
    view = await clear_stale_results(
        a_view(messages, question), Shelf().store, keep_turns=0, target=0
    )

    assert [note.index for note in view.state.notes] == [3]


async def test_small_results_and_small_savings_are_not_worth_it() -> None:
    messages, question = a_conversation([100], [6_000], [10])
    view = a_view(messages, question)

    assert (
        await clear_stale_results(view, Shelf().store, keep_turns=1, target=0, least=3_000) is view
    )
    cleared = await clear_stale_results(view, Shelf().store, keep_turns=1, target=0)
    assert [note.index for note in cleared.state.notes] == [5]
    again = await clear_stale_results(cleared, Shelf().store, keep_turns=1, target=0)
    assert again is cleared


async def test_what_cannot_be_stored_is_said() -> None:
    async def full(_text: str) -> str:
        return ""

    messages, question = a_conversation([6_000], [10])
    view = await clear_stale_results(a_view(messages, question), full, keep_turns=1, target=0)

    assert "could not be stored" in view.state.notes[0].text
