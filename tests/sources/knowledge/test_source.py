"""The source of the tools that ask knowledge bases."""

from collections.abc import Mapping
from typing import Any

import pytest

from pegboard.core.context import ToolContext
from pegboard.core.ports.knowledge.bases import KnowledgeReply
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import SourceUnavailable
from pegboard.sources.knowledge import KIND
from pegboard.sources.knowledge.config import KnowledgeConfig
from pegboard.sources.knowledge.resources import DocumentResource
from pegboard.sources.knowledge.tools import NAMES, make_tools
from pegboard.testing import SourceContract


class Asked:
    """Knowledge bases that note how they are asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def describe(self, principal: Principal) -> Mapping[str, str]:
        return {"handbook": f"for {principal.id}"}

    def _note(self, name: str, **given: Any) -> KnowledgeReply:
        self.calls.append((name, given))
        return KnowledgeReply(text="[1]", data={"citations": []}, tokens=7, model="judge")

    async def list(self, ctx: ToolContext[Any]) -> KnowledgeReply:
        return self._note("list")

    async def retrieve(self, question: str, ctx: ToolContext[Any], **given: Any) -> KnowledgeReply:
        return self._note("retrieve", question=question, **given)

    async def ground(self, question: str, ctx: ToolContext[Any], **given: Any) -> KnowledgeReply:
        return self._note("ground", question=question, **given)

    async def read(self, document: str, ctx: ToolContext[Any], *, base: str = "") -> str:
        return f"{base}: {document}"

    async def open(self, document: str, ctx: ToolContext[Any], **given: Any) -> KnowledgeReply:
        return self._note("open", document=document, **given)

    async def grep(
        self, document: str, pattern: str, ctx: ToolContext[Any], **given: Any
    ) -> KnowledgeReply:
        return self._note("grep", document=document, pattern=pattern, **given)

    async def around(self, piece: str, ctx: ToolContext[Any], **given: Any) -> KnowledgeReply:
        return self._note("around", piece=piece, **given)


class TestKnowledgeSource(SourceContract):
    kind = KIND
    least_tools = len(NAMES)

    async def open_source(self) -> Source:
        return await KIND.open("knowledge", KnowledgeConfig(), Services(knowledge=Asked()))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("kb_retrieve", {"question": "When?", "bases": ["handbook"]}),
        ("grounded_retrieve", {"question": "When?"}),
        ("kb_list", {}),
        ("kb_open", {"document": "d", "page": 2}),
        ("kb_grep", {"document": "d", "pattern": "days"}),
        ("kb_around", {"piece": "p", "before": 2}),
    ],
)
async def test_each_tool_asks_and_is_not_trusted(tool: str, arguments: dict[str, Any]) -> None:
    asked = Asked()
    known = {it.spec.name: it for it in make_tools("knowledge", asked)}[tool]

    result = await known.run(arguments, ToolContext(principal=LOCAL))

    assert asked.calls == [(tool.replace("kb_", "").replace("ed_retrieve", ""), arguments)]
    assert (result.text, result.structured) == ("[1]", {"citations": []})
    assert (result.meta.tokens, result.meta.model) == (7, "judge")
    assert not known.spec.trusted


async def test_a_registration_asks_one_base() -> None:
    asked = Asked()
    config = KnowledgeConfig(base="handbook", tool="grounded_retrieve")
    source = await KIND.open("static", config, Services(knowledge=asked))

    (tool,) = await source.tools()
    await tool.run({"question": "When?"}, ToolContext(principal=LOCAL))

    assert "bases" not in tool.spec.input_schema["properties"]
    assert asked.calls == [("ground", {"question": "When?", "bases": ["handbook"]})]


async def test_documents_are_resources() -> None:
    resource = DocumentResource("knowledge", Asked())

    (part,) = await resource.read("board%3Ahandbook/d_1#page=2", ToolContext(principal=LOCAL))

    assert (part.text, part.media_type) == ("board:handbook: d_1", "text/markdown")


async def test_without_a_board_there_are_no_bases() -> None:
    with pytest.raises(SourceUnavailable, match="no knowledge bases"):
        await KIND.open("knowledge", KnowledgeConfig(), Services())
