"""What tells one review from another."""

from typing import Any

from tests.features.marketplace.test_review import WAY, a_tool, an_entry, has, review

from pegboard.features.marketplace.review_digest import differences, digest_review


async def test_differences_name_places_and_no_values() -> None:
    before = await review(an_entry(WAY), look=has(a_tool("a"), a_tool("b"), a_tool("c")))
    after = await review(
        an_entry(WAY, title="Other"),
        look=has(a_tool("b", description="x"), a_tool("c"), a_tool("d")),
    )

    assert differences(before.places, after.places) == [
        "title",
        "tools.a (gone)",
        "tools.b",
        "tools.d (new)",
    ]


def shown(*tools: dict[str, Any], **said: Any) -> dict[str, Any]:
    return {"title": "t", "needs": [{"name": "KEY", "is_set": False}], "tools": tools, **said}


def test_all_that_lasts_is_in_the_digest_and_nothing_else() -> None:
    row = {"name": "a", "effect": "read"}
    first = digest_review(shown(row))[0]
    is_set = [{"name": "KEY", "is_set": True}]
    same = {digest_review(shown(row, needs=is_set))[0], digest_review(shown(row, digest="x"))[0]}
    others = {
        digest_review(item)[0]
        for item in (
            shown({**row, "effect": "write"}),
            shown(row, title="u"),
            shown(row, more=1),
            shown(row, needs=[]),
            shown(),
            shown(row, row),  # two of one name are not one
            shown({**row, "effect": "write"}, row),
        )
    }

    assert same == {first}
    assert len(others - {first}) == 7
