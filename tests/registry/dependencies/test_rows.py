"""What a change does not touch is the very same row afterwards, and the old one stays as it was."""

from pegboard.registry.dependencies.changes import Delta
from pegboard.registry.dependencies.rows import changed_nodes, changed_rows, cut

SPEC = ("spec",)
ROWS = {"a": {"b": SPEC, "c": SPEC}, "b": {"c": SPEC}, "c": {}}


def test_only_rows_that_are_touched_are_new() -> None:
    delta = Delta(nodes={}, edges={("b", "c"): (SPEC, ())})

    after = changed_rows(ROWS, delta, [("b", "c", ())])

    assert after == {"a": {"b": SPEC, "c": SPEC}, "b": {}, "c": {}}
    assert ROWS["b"] == {"c": SPEC}
    assert after["a"] is ROWS["a"]


def test_nodes_come_with_a_row_and_go_with_theirs() -> None:
    delta = Delta(
        nodes={"d": ((), SPEC), "b": (SPEC, ())},
        edges={("a", "b"): (SPEC, ()), ("b", "c"): (SPEC, ()), ("a", "d"): ((), SPEC)},
    )

    after = changed_rows(ROWS, delta, [("a", "b", ()), ("b", "c", ()), ("a", "d", SPEC)])

    assert after == {"a": {"c": SPEC, "d": SPEC}, "c": {}, "d": {}}


def test_nodes_are_the_same_where_none_changes() -> None:
    nodes = {"a": SPEC, "b": SPEC}
    delta = Delta(nodes={"a": (SPEC, ()), "c": ((), SPEC)}, edges={})

    assert changed_nodes(nodes, Delta(nodes={}, edges={})) is nodes
    assert changed_nodes(nodes, delta) == {"b": SPEC, "c": SPEC}
    assert nodes == {"a": SPEC, "b": SPEC}


def test_a_part_has_the_rows_of_its_nodes_and_the_edges_between_them() -> None:
    assert cut(ROWS, ["c", "a"], {"a", "c"}) == {"c": {}, "a": {"c": SPEC}}
