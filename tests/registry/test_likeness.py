"""Names that were perhaps meant."""

from pegboard.registry.likeness import nearest_names


def test_the_nearest_come_first() -> None:
    names = ["shop__refund_order", "shop__find_order", "crm__find_customer"]

    assert nearest_names("shop__find_ordr", names) == ("shop__find_order", "shop__refund_order")


def test_an_action_without_its_source_is_recognised() -> None:
    assert nearest_names("q", ["db__q", "db__query_everything"]) == ()
    assert nearest_names("tables", ["database__tables"]) == ("database__tables",)


def test_names_that_may_not_be_told_are_not() -> None:
    assert nearest_names("find", ["find_a", "find_b"], may_name=lambda n: n == "find_b") == (
        "find_b",
    )
