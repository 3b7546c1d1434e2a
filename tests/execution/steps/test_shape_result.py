"""Results within their budget, files under handles, no secrets."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.execution.made import ADA, Following, a_call, a_kit, a_spec, a_target

from pegboard.core.ports.call_stores import StoredResult
from pegboard.core.result import (
    RESULT_URI,
    Artifact,
    ImagePart,
    ResourcePart,
    ResultMeta,
    TextPart,
    ToolResult,
)
from pegboard.core.stores.memory_results import MemoryResults
from pegboard.errors import Unavailable
from pegboard.execution import CallDefaults, CallEnvironment
from pegboard.execution.results.handles import value_of
from pegboard.execution.results.paging import read_page
from pegboard.execution.results.redaction import make_redactor
from pegboard.execution.steps.shape_result import shape
from pegboard.testing import FakeClock
from pegboard.tools.results import wrap


def with_note(result: ToolResult, note: str) -> ToolResult:
    return ToolResult(content=f"{result.text}\n{note}", structured=result.structured)


IMAGE = ImagePart(data=b"x" * 5000, media_type="image/png")


async def shaped(
    result: ToolResult, *, budget: int | None = None, kit: CallEnvironment | None = None
) -> ToolResult:
    kit = kit or a_kit(settings=CallDefaults(max_result_bytes=100))
    spec = a_spec(max_result_bytes=budget)
    return await shape(a_target(spec), kit, Following(result))(a_call())


async def whole(kit: CallEnvironment, handle: str, *, size: int = 100) -> str:
    first = await read_page(handle, kit.results, ADA, page=1, size=size)
    pages = [
        await read_page(handle, kit.results, ADA, page=number, size=size)
        for number in range(1, first.pages + 1)
    ]
    return "".join(page.text for page in pages)


@pytest.mark.parametrize(
    ("result", "budget"),
    [
        (ToolResult(content="x" * 100, structured="x" * 100), None),
        (ToolResult(content="ü" * 50), None),
        (ToolResult(content="x" * 9000), 0),
        (ToolResult(content="x" * 9000), 9000),
        (ToolResult(content=(TextPart(text="x"), IMAGE)), None),
    ],
    ids=["the budget", "in bytes", "no budget", "its own", "a picture is not paged"],
)
async def test_a_result_within_its_budget_passes_untouched(
    result: ToolResult, budget: int | None
) -> None:
    assert await shaped(result, budget=budget) is result


async def test_a_larger_result_is_stored_and_its_first_page_given() -> None:
    kit = a_kit(settings=CallDefaults(max_result_bytes=100))
    everything = wrap(list(range(200)))
    result = await shaped(everything, kit=kit)
    handle = result.meta.handle

    assert handle.startswith(RESULT_URI)
    assert result.content == (
        f"{everything.text[:99]}\n[page 1 of 7; 36 of 200 items; the whole result has 691 "
        f"bytes and is stored as {handle}: read page 2 with it, or give it to another tool as an "
        "argument]"
    )
    assert result.structured is None
    assert result.meta == ResultMeta(truncated=True, handle=handle, total_bytes=691)


async def test_a_cut_array_tells_its_counts_and_the_cursor_behind_it() -> None:
    kit = a_kit(settings=CallDefaults(max_result_bytes=100))
    rows = [{"name": f"row, {number}"} for number in range(30)]
    meta = {"next_cursor": "abc", "other": 1, "@odata.nextLink": ""}
    answer = {"rows": rows, "has_more": True, "meta": meta}
    everything = wrap(answer)

    result = await shaped(with_note(everything, "[There is more: page=2.]"), kit=kit)

    page, about, cursors, note = result.text.split("\n")
    assert (
        page == '{"rows":[' + ",".join(f'{{"name":"row, {number}"}}' for number in range(5)) + ","
    )
    assert about.startswith('[page 1 of 7; 5 of 30 items of "rows"; the whole result has')
    assert cursors == ('[next page of the source: {"has_more":true,"meta":{"next_cursor":"abc"}}]')
    assert note == "[There is more: page=2.]"
    assert await whole(kit, result.meta.handle) == everything.text
    stored = await kit.results.get(result.meta.handle, ADA.owner)
    assert stored is not None
    assert value_of(stored) == answer


async def test_a_note_alone_makes_no_page() -> None:
    result = with_note(wrap(["x" * 90]), "[There is more: page=2.]")

    assert await shaped(result) is result


@pytest.mark.parametrize(
    ("result", "media_type"),
    [
        (wrap({"rows": ["x" * 200]}), "application/json"),
        (ToolResult(content="x" * 200, structured="x" * 200), "text/plain"),
        (ToolResult(content="x" * 200), "text/plain"),
        (ToolResult(content="x" * 200, structured={"not": "the text"}), "text/plain"),
        (ToolResult(content="x" * 200, structured={"no": object()}), "text/plain"),
    ],
    ids=["json", "a string", "text", "another value", "no JSON"],
)
async def test_what_is_stored_says_what_it_is(
    result: ToolResult, media_type: str, clock: FakeClock
) -> None:
    kit = a_kit(
        clock=clock,
        results=MemoryResults(now=clock.time),
        settings=CallDefaults(max_result_bytes=100, result_ttl=60),
    )
    handle = (await shaped(result, kit=kit)).meta.handle

    assert await kit.results.get(handle, "acme/ada") == StoredResult(
        handle=handle,
        owner="acme/ada",
        media_type=media_type,
        body=result.text.encode(),
        created_at=clock.time(),
        expires_at=clock.time() + 60,
    )


@given(st.text(st.characters(), min_size=1, max_size=120), st.integers(1, 60))
def test_the_pages_that_were_promised_give_the_whole(text: str, budget: int) -> None:
    async def work() -> None:
        kit = a_kit(settings=CallDefaults(max_result_bytes=1_000_000))
        result = await shaped(ToolResult(content=text), budget=budget, kit=kit)
        if not result.meta.truncated:
            assert len(text.encode("utf-8", "surrogatepass")) <= budget
            return
        page = await read_page(result.meta.handle, kit.results, ADA, page=1, size=1_000_000)
        assert result.text.startswith(f"{page.text}\n[page 1 of {page.pages};")
        assert await whole(kit, result.meta.handle, size=1_000_000) == text

    asyncio.run(work())


async def test_many_short_texts_are_one_long_one() -> None:
    kit = a_kit(settings=CallDefaults(max_result_bytes=100))
    parts = tuple(TextPart(text="ü" * 20) for _ in range(3))

    result = await shaped(ToolResult(content=parts), kit=kit)

    assert isinstance(result.content, str)
    assert result.meta.total_bytes == 120
    assert await whole(kit, result.meta.handle) == "\n".join(["ü" * 20] * 3)


async def test_what_is_not_text_is_kept_beside_the_page() -> None:
    kit = a_kit(settings=CallDefaults(max_result_bytes=100))
    resource = ResourcePart(uri="u", media_type="text/plain", text="y" * 200, data=b"z")

    result = await shaped(ToolResult(content=(TextPart(text="x" * 200), IMAGE, resource)), kit=kit)

    page, *others = result.content
    assert isinstance(page, TextPart)
    assert page.text.startswith("x" * 100 + "\n[page 1 of 5;")
    assert others == [IMAGE, ResourcePart(uri="u", media_type="text/plain", data=b"z")]
    assert await whole(kit, result.meta.handle) == "x" * 200 + "\n" + "y" * 200


@pytest.mark.parametrize(
    ("own", "size", "pages"),
    [(None, 2_600, 2), (0, 2_600, 2), (1_000, 2_600, 3), (None, 2_500, 0)],
    ids=["the board's budget", "a tool without a budget", "a smaller one", "within the frame"],
)
async def test_a_caller_with_a_smaller_budget_gets_smaller_pages(
    own: int | None, size: int, pages: int
) -> None:
    kit = a_kit(settings=CallDefaults(max_result_bytes=100_000))
    call = a_call()
    call.ctx = structs.replace(call.ctx, max_result_bytes=2_000)
    following = Following(ToolResult(content="x" * size))
    result = await shape(a_target(a_spec(max_result_bytes=own)), kit, following)(call)

    if not pages:
        assert not result.meta.truncated
        return
    page = await read_page(result.meta.handle, kit.results, ADA, page=1, size=100_000)
    assert page.pages == pages
    assert result.text.startswith(page.text)


class FullStore(MemoryResults):
    async def put(self, result: StoredResult) -> None:
        raise Unavailable("no room")


async def test_what_cannot_be_stored_is_cut_and_the_call_was_done_all_the_same() -> None:
    kit = a_kit(settings=CallDefaults(max_result_bytes=100), results=FullStore())

    result = await shaped(ToolResult(content="x" * 200), kit=kit)

    assert result.content == (
        "x" * 100 + "\n[page 1 of 2; the whole result has 200 bytes and could not be stored]"
    )
    assert (result.meta.truncated, result.meta.handle, result.is_error) == (True, "", False)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("done", "done\nreport.csv: HANDLE"),
        ("", "report.csv: HANDLE"),
        ((TextPart(text="done"),), "done\nreport.csv: HANDLE"),
    ],
    ids=["text", "nothing", "parts"],
)
async def test_a_file_is_stored_and_its_handle_told_to_the_model(content: Any, shown: str) -> None:
    kit = a_kit()
    artifact = Artifact(name="report.csv", media_type="text/csv", data=b"a,b")

    result = await shaped(ToolResult(content=content, artifacts=(artifact,)), kit=kit)

    (stored,) = result.artifacts
    assert stored == Artifact(
        name="report.csv", media_type="text/csv", size=3, handle=stored.handle
    )
    assert result.text == shown.replace("HANDLE", stored.handle)
    kept = await kit.results.get(stored.handle, "acme/ada")
    assert kept is not None
    assert (kept.body, kept.media_type, kept.name) == (b"a,b", "text/csv", "report.csv")


async def test_a_file_that_is_elsewhere_is_named_as_far_as_it_can_be() -> None:
    stored = Artifact(name="a", handle="pegboard://results/a")
    result = await shaped(ToolResult(content="x", artifacts=(stored, Artifact(name="b"))))

    assert result.artifacts == (stored, Artifact(name="b"))
    assert result.text == "x\na: pegboard://results/a"


async def test_files_without_handle_and_data_change_nothing_of_what_is_said() -> None:
    assert (await shaped(ToolResult(content="x", artifacts=(Artifact(name="b"),)))).text == "x"


async def test_a_file_that_cannot_be_stored_stays_with_the_result() -> None:
    artifact = Artifact(name="f", data=b"abc")

    result = await shaped(
        ToolResult(content="x", artifacts=(artifact,)), kit=a_kit(results=FullStore())
    )

    assert result.artifacts == (Artifact(name="f", size=3, data=b"abc"),)
    assert result.text == "x\nf: could not be stored"


async def test_secrets_are_out_before_anything_is_stored() -> None:
    kit = a_kit(settings=CallDefaults(max_result_bytes=20), redact=make_redactor(("s3cret",)))
    artifact = Artifact(name="f", media_type="text/plain", data=b"is s3cret")

    result = await shaped(
        ToolResult(content="is s3cret " * 9, structured="is s3cret", artifacts=(artifact,)),
        kit=kit,
    )

    handles = [result.meta.handle, result.artifacts[0].handle]
    bodies = [await whole(kit, handle, size=0) for handle in handles]
    assert "s3cret" not in f"{result}{bodies}"
    assert bodies[1] == "is [redacted]"


@pytest.mark.parametrize(("items", "goes_on"), [(100, False), (20_000, True)])
async def test_the_loop_goes_on_while_a_large_result_is_read(items: int, goes_on: bool) -> None:
    turns: list[str] = []
    asyncio.get_running_loop().call_soon(turns.append, "another call")
    result = await shaped(wrap(list(range(items))))

    assert result.meta.truncated
    assert bool(turns) == goes_on
