"""A base may have an embedding model of its own, one that the board file names."""

from pathlib import Path

import pytest
from tests.features.knowledge.test_vectors import (
    DOGS,
    MONEY,
    QUESTION,
    ConceptEmbedder,
    EmbeddingChoice,
    chosen,
    put_in,
    wait_until_embedded,
)

from pegboard import Pegboard
from pegboard.core.principal import LOCAL
from pegboard.errors import InvalidRequest
from pegboard.features.knowledge import NewBase
from pegboard.features.resources import ResourceChange

__all__ = ["chosen"]

BOARD = "models: {named: {wide: {model: 'openai:wide'}}}\n"


@pytest.fixture
def board_file(tmp_path: Path, chosen: EmbeddingChoice) -> Path:
    """A board whose own model is narrow, and that names a wide one."""
    chosen.model = ConceptEmbedder("test:narrow")
    wide = ConceptEmbedder("openai:wide", fields=5)
    chosen.before = {"wide": wide, "openai:wide": wide, "test:narrow": chosen.model}
    file = tmp_path / "board.yaml"
    file.write_text(BOARD)
    return file


@pytest.mark.slow
async def test_bases_of_different_models_answer_one_question(
    board_file: Path, chosen: EmbeddingChoice
) -> None:
    async with Pegboard(board_file, data=board_file.parent) as board:
        new = NewBase(name="money", settings={"embedder": "wide"})
        money = await board.knowledge.add_base(new, principal=LOCAL)
        dogs = await board.knowledge.add_base(NewBase(name="dogs"), principal=LOCAL)
        await put_in(board, money, "money.md", MONEY)
        await put_in(board, dogs, "dogs.md", DOGS)

        found = await board.call("kb_retrieve", {"question": QUESTION})

    looks = {look["name"]: look["stages"] for look in found.structured["looks"]}
    assert looks == {"money": ("words", "meaning"), "dogs": ("words", "meaning")}
    assert "hound" in found.structured["pieces"][0]["text"]
    assert [it.texts[-1] for it in (chosen.before["wide"], chosen.before["test:narrow"])] == [
        QUESTION,
        QUESTION,
    ]


async def test_a_base_that_gets_another_model_is_embedded_again_and_keeps_its_vectors_until_then(
    board_file: Path, chosen: EmbeddingChoice
) -> None:
    wide = chosen.before["wide"]
    wide.may_go_on.clear()
    async with Pegboard(board_file, data=board_file.parent) as board:
        base = await board.knowledge.add_base(NewBase(name="dogs"), principal=LOCAL)
        await put_in(board, base, "dogs.md", DOGS)
        change = ResourceChange(config={"embedder": "wide"})
        base = await board.knowledge.change_base(base, change, principal=LOCAL)

        (view,) = await board.knowledge.view_bases([base], principal=LOCAL)
        assert (view["embedder"], view["reembedding"]["embedder"]) == ("test:narrow", "openai:wide")
        wide.may_go_on.set()

        assert (await wait_until_embedded(board, base))["embedder"] == "openai:wide"


async def test_a_model_that_the_board_file_does_not_name_is_refused(board_file: Path) -> None:
    async with Pegboard(board_file) as board:
        new = NewBase(name="dogs", settings={"embedder": "openai:dear"})
        with pytest.raises(InvalidRequest, match="no embedding model 'openai:dear'"):
            await board.knowledge.add_base(new, principal=LOCAL)


async def test_a_model_that_is_named_no_more_is_told_with_the_answer(board_file: Path) -> None:
    async with Pegboard(board_file, data=board_file.parent) as board:
        new = NewBase(name="dogs", settings={"embedder": "wide"})
        base = await board.knowledge.add_base(new, principal=LOCAL)
        await put_in(board, base, "dogs.md", DOGS)
    board_file.write_text("sources: []\n")  # noqa: ASYNC240 - nothing else runs
    async with Pegboard(board_file, data=board_file.parent) as board:
        found = await board.call("kb_retrieve", {"question": "Where does the hound sleep?"})

    (look,) = found.structured["looks"]
    assert (look["stages"], look["skipped"]) == (("words",), ("meaning",))
    assert "found by words alone" in str(found.content)
