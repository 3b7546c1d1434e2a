from pegboard.planning.plan_builder import PlanBuilder


def test_a_note_is_told_once() -> None:
    draft = PlanBuilder([])

    draft.note("one")
    draft.note("one")

    assert draft.notes() == ("one",)
    assert draft.step_of("nothing") is None
