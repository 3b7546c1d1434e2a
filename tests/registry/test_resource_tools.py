from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.resources_and_prompts import PromptMessage
from pegboard.core.result import ImagePart, TextPart
from pegboard.core.tool import Effect
from pegboard.registry.resource_tools import PromptTool, ResourceTool
from pegboard.tools import prompt, resource
from pegboard.tools.resources_and_prompts import FunctionPrompt, FunctionResource, offer_of

PICTURE = ImagePart(data=b"1", media_type="image/png")


@resource("docs://{page}", scopes=("docs",), tags=("wiki",))
def page(page: str) -> str:
    return page


@prompt
def show(what: str, why: str = "") -> Any:
    return [
        PromptMessage(role="assistant", content=TextPart(text=what)),
        PromptMessage(role="user", content=PICTURE),
    ]


async def test_a_resource_runs_like_a_tool_that_reads() -> None:
    made = offer_of(page)
    assert isinstance(made, FunctionResource)
    offered = ResourceTool(made.in_source("wiki"))

    result = await offered.run({"uri": "docs://7"}, ToolContext())

    spec = offered.spec
    assert spec.name.startswith("wiki__docs_page_x")
    assert (spec.effect, spec.category, spec.handler) == (Effect.READ, "resource", "resource")
    assert (spec.scopes, spec.tags, spec.source) == (("docs",), ("wiki",), "wiki")
    assert offered.uri == "board://wiki/docs://{page}"
    assert [(part.uri, part.text) for part in offered.parts(result)] == [
        ("board://wiki/docs://7", "7")
    ]


async def test_a_prompt_runs_like_a_tool_and_comes_back_whole() -> None:
    made = offer_of(show)
    assert isinstance(made, FunctionPrompt)
    offered = PromptTool(made)

    filled = offered.to_prompt(await offered.run({"what": "this"}, ToolContext()))

    assert [(item.role, item.content) for item in filled.messages] == [
        ("assistant", TextPart(text="this")),
        ("user", PICTURE),
    ]
    assert offered.spec.input_schema["required"] == ["what"]
    assert offered.spec.input_schema["additionalProperties"] is False
