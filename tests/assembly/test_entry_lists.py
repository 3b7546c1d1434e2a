"""Lists in descriptions are shortened fairly, and nothing is cut off silently."""

from pegboard.assembly.entry_lists import list_entries


def test_what_fits_is_whole() -> None:
    assert list_entries({"a": "one\n two", "b": ""}, more="ask") == "- a: one two\n- b"


def test_only_long_texts_are_shortened() -> None:
    text = list_entries({"a": "x" * 500, "b": "short", "c": "y" * 500}, more="ask", characters=300)

    lines = text.splitlines()
    assert lines[1] == "- b: short"
    assert len(lines[0]) == len(lines[2])
    assert lines[0].endswith("…")
    assert len(text) <= 300


def test_names_stand_alone_where_texts_have_no_room() -> None:
    entries = {f"name{number}": "z" * 100 for number in range(20)}

    text = list_entries(entries, more="ask", characters=300)

    assert text.splitlines() == [f"- {name}" for name in entries]


def test_names_that_do_not_fit_are_counted() -> None:
    entries = {f"name{number:03}": "" for number in range(100)}

    lines = list_entries(entries, more="ask", characters=100).splitlines()

    assert lines[-1] == "(and 90 more: ask)"
    assert lines[9] == "- name009"
