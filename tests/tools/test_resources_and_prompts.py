from typing import Any

import pytest

from pegboard.core.context import ToolContext
from pegboard.core.resources_and_prompts import FilledPrompt, PromptArgument, PromptMessage
from pegboard.core.result import ImagePart, ResourcePart, TextPart
from pegboard.errors import ToolArgumentError, ToolOutputError, ToolSignatureError
from pegboard.tools import prompt, resource
from pegboard.tools.resources_and_prompts import FunctionPrompt, FunctionResource, offer_of

CTX: ToolContext[Any] = ToolContext()


def a_resource(function: Any) -> FunctionResource:
    made = offer_of(function)
    assert isinstance(made, FunctionResource)
    return made


def a_prompt(function: Any) -> FunctionPrompt:
    made = offer_of(function)
    assert isinstance(made, FunctionPrompt)
    return made


@resource("docs://{page}", media_type="text/markdown", tags=("docs",))
def handbook(page: int) -> str:
    """A page of the handbook.

    Args:
        page: Which one.
    """
    return f"# page {page}"


async def test_a_template_reads_its_places_into_the_parameters() -> None:
    made = a_resource(handbook)

    parts = await made.read("docs://7", CTX)

    assert parts == [ResourcePart(uri="docs://7", media_type="text/markdown", text="# page 7")]
    assert (made.spec.name, made.spec.description) == ("handbook", "A page of the handbook.")
    assert made.in_source("wiki").spec.source == "wiki"
    assert handbook(3) == "# page 3"


async def test_a_place_that_does_not_fit_its_type_is_refused() -> None:
    with pytest.raises(ToolArgumentError, match="page"):
        await a_resource(handbook).read("docs://seven", CTX)


async def test_a_resource_may_be_bytes_parts_or_several() -> None:
    own = ResourcePart(uri="pic://2", media_type="image/png", data=b"2")

    @resource("pic://all")
    async def pictures() -> Any:
        return [b"1", own, "three"]

    parts = await a_resource(pictures).read("pic://all", CTX)

    assert parts == [
        ResourcePart(uri="pic://all", media_type="application/octet-stream", data=b"1"),
        own,
        ResourcePart(uri="pic://all", media_type="text/plain", text="three"),
    ]


async def test_what_a_resource_cannot_be_is_told() -> None:
    @resource("n://n")
    def number() -> Any:
        return 1

    with pytest.raises(ToolOutputError, match=r"'n://n' gave a int, not text"):
        await a_resource(number).read("n://n", CTX)


@pytest.mark.parametrize("uri", ["handbook", "", ":x", "{scheme}://x"])
def test_a_uri_without_a_scheme_is_refused(uri: str) -> None:
    with pytest.raises(ToolSignatureError, match="begins with a scheme"):
        resource(uri)


def test_parameters_and_places_are_the_same() -> None:
    def page(number: int) -> str:
        return str(number)

    with pytest.raises(
        ToolSignatureError, match=r"parameters \(number\) .*docs://\{page\}.*\(page\)"
    ):
        resource("docs://{page}")(page)


@prompt(title="Review", tags=("code",))
def review(code: str, language: str = "python") -> str:
    """Ask for a review.

    Args:
        code: What to look at.
    """
    return f"Review this {language}: {code}"


async def test_a_prompt_is_filled_in() -> None:
    made = a_prompt(review)

    filled = await made.fill({"code": "x = 1"}, CTX)

    message = PromptMessage(role="user", content=TextPart(text="Review this python: x = 1"))
    assert filled == FilledPrompt(messages=(message,), description="Ask for a review.")
    assert made.spec.arguments == (
        PromptArgument(name="code", description="What to look at.", required=True),
        PromptArgument(name="language"),
    )
    placed = made.in_source("shop").spec
    assert (placed.name, placed.action, placed.source) == ("shop__review", "review", "shop")


async def test_a_prompt_may_be_messages_parts_or_a_whole() -> None:
    answer = PromptMessage(role="assistant", content=TextPart(text="yes"))
    picture = ImagePart(data=b"1", media_type="image/png")

    @prompt()
    def talk() -> Any:
        return ["well?", answer, picture]

    @prompt()
    def whole() -> Any:
        return FilledPrompt(messages=(answer,), description="d")

    assert [item.role for item in (await a_prompt(talk).fill({}, CTX)).messages] == [
        "user",
        "assistant",
        "user",
    ]
    assert await a_prompt(whole).fill({}, CTX) == FilledPrompt(messages=(answer,), description="d")


async def test_what_a_prompt_cannot_be_is_told() -> None:
    @prompt()
    def number() -> Any:
        return 1

    with pytest.raises(ToolOutputError, match="gave a int, not text"):
        await a_prompt(number).fill({}, CTX)


def test_a_prompt_needs_a_name_that_can_be_sent() -> None:
    def greet() -> str:
        return "x"

    with pytest.raises(ToolSignatureError, match="'a b' is not a name"):
        prompt(name="a b")(greet)
    assert a_prompt(prompt(greet)).spec.name == "greet"


def test_a_function_that_is_no_offer_has_none() -> None:
    assert offer_of(len) is None
