"""What changed between two texts is found line by line."""

from hypothesis import given
from hypothesis import strategies as st

from pegboard.knowledge.text_changes import find_changes

OLD = "# Returns\n\nWithin 14 days.\n\nKeep the receipt.\n\nAsk Kim.\n"
NEW = "# Returns\n\nWithin 30 days.\n\nKeep the  receipt.\n\nWe pay the parcel.\n\nAsk Kim.\n"


def test_changed_and_added_lines_are_found_and_white_space_does_not_count() -> None:
    changes = find_changes(OLD, NEW)

    assert [(it.kind, OLD[slice(*it.before)], NEW[slice(*it.after)]) for it in changes] == [
        ("changed", "Within 14 days.", "Within 30 days."),
        ("added", "", "We pay the parcel."),
    ]


def test_a_removed_line_names_the_place_where_it_stood() -> None:
    (change,) = find_changes(NEW, NEW.replace("We pay the parcel.\n\n", ""))

    assert (change.kind, NEW[slice(*change.before)]) == ("removed", "We pay the parcel.")
    assert change.after == (NEW.index("We pay"), NEW.index("We pay"))


def test_a_moved_line_is_removed_here_and_added_there() -> None:
    changes = find_changes("a\nb\nc\nd\n", "b\nc\nd\na\n")

    assert [it.kind for it in changes] == ["removed", "added"]


def test_texts_of_nothing_but_repeated_lines_are_compared_in_little_time() -> None:
    before = "\n".join(["yes", "no"] * 50_000)
    after = "\n".join(["no", "yes", "no"] * 50_000)

    assert [it.kind for it in find_changes(before, after)] == ["changed"]


def test_lines_of_white_space_alone_are_no_lines() -> None:
    assert find_changes(" " * 2_000_000 + "\na", "a\n" + "\t" * 2_000_000) == []


LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "", "e f"]), max_size=30).map("\n".join)


@given(before=LINES, after=LINES)
def test_what_is_not_in_a_change_is_the_same_in_both_texts(before: str, after: str) -> None:
    changes = find_changes(before, after)

    rest: list[str] = []
    for text, spans in (
        (before, [it.before for it in changes]),
        (after, [it.after for it in changes]),
    ):
        for start, end in reversed(spans):
            text = text[:start] + "\n" + text[end:]  # noqa: PLW2901 - what is left of it
        rest.append("\n".join(line for line in text.split("\n") if line.strip()))
    assert rest[0] == rest[1]
