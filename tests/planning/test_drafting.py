from pegboard.planning.drafting import Draft


def test_a_note_is_told_once() -> None:
    draft = Draft([])

    draft.note("one")
    draft.note("one")

    assert draft.notes() == ("one",)
    assert draft.step_of("nothing") is None
