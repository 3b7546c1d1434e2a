import base64
import threading
from typing import Annotated, Any, Literal

import pytest
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.messages.tool import ToolOutputMixin
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import (
    BaseTool,
    InjectedToolArg,
    InjectedToolCallId,
    StructuredTool,
    Tool,
    ToolException,
    tool,
)
from langchain_core.tools.base import _DirectlyInjectedToolArg
from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.v1 import BaseModel as BaseModelV1
from pydantic.v1 import validator

from pegboard.core.result import AudioPart, ImagePart, ResourcePart, TextPart, ToolResult
from pegboard.core.tool import Effect, ToolSpec
from pegboard.errors import ToolSignatureError
from pegboard.registry import ToolRegistry
from pegboard.sources.langchain.client import result_of
from pegboard.sources.langchain.tools import adapt
from pegboard.tools import as_tool

PIXEL = base64.b64encode(b"PNG").decode()


async def call(candidate: Any, arguments: Any = None) -> ToolResult:
    registry = ToolRegistry([candidate])
    (name,) = registry.names()
    return await registry.call(name, arguments or {})


def spec_of(candidate: Any) -> ToolSpec:
    return as_tool(candidate).spec


def made(function: Any, **fields: Any) -> StructuredTool:
    return StructuredTool.from_function(function, description="x", **fields)


# what it is


def test_a_tool_is_taken_wherever_tools_are() -> None:
    @tool
    def add(a: int, b: Annotated[int, Field(description="The other.")] = 2) -> int:
        """Add two numbers."""
        return a + b

    spec = ToolRegistry([add]).get("add").spec

    assert (spec.description, spec.effect, spec.handler) == (
        "Add two numbers.",
        Effect.WRITE,
        "",
    )
    assert spec.input_schema == {
        "type": "object",
        "properties": {
            "a": {"title": "A", "type": "integer"},
            "b": {"default": 2, "description": "The other.", "title": "B", "type": "integer"},
        },
        "required": ["a"],
        "additionalProperties": False,
    }


def test_a_tool_is_put_under_a_source() -> None:
    spec = as_tool(made(lambda: "", name="Old Search"), source="lc").spec

    assert (spec.action, spec.source, spec.handler) == ("Old Search", "lc", "langchain")
    assert spec.name.startswith("lc__Old_Search_x")


def test_a_name_that_no_provider_takes_is_made_legible() -> None:
    assert spec_of(made(lambda: "", name="Old search, v2")).name == "Old_search_v2"


def test_metadata_and_tags_say_more() -> None:
    said = {"effect": "read", "idempotent": True, "category": "web"}
    spec = spec_of(made(lambda: "", name="x", metadata=said, tags=["a"], return_direct=True))

    assert (spec.effect, spec.idempotent, spec.category) == (Effect.READ, True, "web")
    assert spec.tags == ("a", "return_direct")


def test_a_word_that_is_no_effect_is_refused() -> None:
    with pytest.raises(ToolSignatureError, match="effect is one of read, write, admin"):
        as_tool(made(lambda: "", name="x", metadata={"effect": "eat"}))


@pytest.mark.parametrize(
    "candidate",
    [
        pytest.param(RunnableLambda(lambda x: x), id="a runnable"),
        pytest.param(Document("x"), id="a document"),
    ],
)
def test_other_things_of_langchain_are_refused_with_what_to_give(candidate: Any) -> None:
    with pytest.raises(ToolSignatureError, match=r"is not a LangChain tool; give a BaseTool"):
        as_tool(candidate)


def test_a_class_is_refused() -> None:
    with pytest.raises(ToolSignatureError, match=r"the class .*StructuredTool is not a"):
        adapt(StructuredTool)


class Where(BaseModel):
    city: str
    kind: Literal["now", "later"] = "now"


class Weather(BaseModel):
    where: Where
    user: Annotated[str, InjectedToolArg] = "nobody"

    @field_validator("where")
    @classmethod
    def known(cls, where: Where) -> Where:
        if where.city == "Atlantis":
            raise ValueError("Atlantis is under water")
        return where


class Old(BaseModelV1):
    count: int

    @validator("count")  # pyright: ignore[reportUntypedFunctionDecorator]  # pydantic.v1 is untyped
    def small(cls, count: int) -> int:
        if count > 9:
            raise ValueError("too many")
        return count


async def test_a_model_of_arguments_is_shown_and_arrives() -> None:
    weather = made(lambda where, user: f"{where.kind} {where.city} {user}", name="weather")
    weather.args_schema = Weather

    spec = spec_of(weather)
    result = await call(weather, {"where": '{"city": "Rome"}'})

    assert set(spec.input_schema["properties"]) == {"where"}
    assert result.unwrap() == "now Rome nobody"


async def test_a_validator_of_the_model_refuses_arguments_precisely() -> None:
    weather = made(lambda where, user: "", name="weather")
    weather.args_schema = Weather

    result = await call(weather, {"where": {"city": "Atlantis"}})

    assert result.error is not None
    assert result.error.code == "arguments_invalid"
    assert "- where: Value error, Atlantis is under water" in result.text


async def test_an_old_model_of_arguments_works_too() -> None:
    old = made(lambda count: count * 2, name="old")
    old.args_schema = Old

    assert (await call(old, {"count": "3"})).unwrap() == 6
    refused = await call(old, {"count": 10})
    assert refused.error is not None
    assert (refused.error.code, "- count: too many" in refused.text) == ("arguments_invalid", True)


@pytest.mark.parametrize("model", [Where, Old])
async def test_a_validation_error_of_the_tool_itself_is_its_own_fault(model: Any) -> None:
    def broken() -> str:
        return str(model(nonsense=1))

    result = await call(made(broken, name="broken"))

    assert result.error is not None
    assert (result.error.code, "nonsense" in result.text) == ("tool_failed", False)


async def test_a_json_schema_is_taken_as_it_is_and_closed() -> None:
    schema = {"title": "T", "type": "object", "properties": {"n": {"type": "integer"}}}
    raw = made(lambda n: n + 1, name="raw", args_schema=schema)

    assert spec_of(raw).input_schema == {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert (await call(raw, {"n": "3"})).unwrap() == 4
    assert (await call(raw, {"m": 3})).is_error


async def test_a_tool_of_one_text_is_called_with_it() -> None:
    search = Tool(name="search", description="", func=lambda query: f"found {query}")

    assert spec_of(search).description == "The LangChain tool 'search'."
    assert (await call(search, {"tool_input": "tea"})).unwrap() == "found tea"


class Opaque:
    """No type for a schema."""


class OldOpaque(BaseModelV1):
    it: Opaque

    class Config:
        arbitrary_types_allowed = True


class NewOpaque(BaseModel):
    it: Opaque

    model_config = ConfigDict(arbitrary_types_allowed=True)


@pytest.mark.parametrize("model", [OldOpaque, NewOpaque])
def test_arguments_that_have_no_schema_are_refused(model: Any) -> None:
    odd = made(lambda it: "", name="odd")
    odd.args_schema = model

    with pytest.raises(ToolSignatureError, match="tool 'odd' have no JSON Schema: "):
        spec_of(odd).input_schema  # noqa: B018 - reading it is what builds it


# how it runs


async def test_sync_tools_run_in_the_pool_of_sync_tools() -> None:
    result = await call(made(lambda: threading.current_thread().name, name="where"))

    assert result.unwrap() == "pegboard-tool"


class Sub(BaseTool):
    name: str = "sub"
    description: str = "x"

    def _run(self, text: str) -> str:
        return f"{threading.current_thread().name} {text}"


class AsyncSub(Sub):
    async def _arun(self, text: str) -> str:
        return f"{threading.current_thread().name} {text}"


@pytest.mark.parametrize(
    ("kind", "thread"), [(Sub, "pegboard-tool"), (AsyncSub, threading.current_thread().name)]
)
async def test_a_class_runs_as_it_is_written(kind: type[BaseTool], thread: str) -> None:
    assert (await call(kind(), {"text": "x"})).unwrap() == f"{thread} x"


async def test_what_is_injected_is_hidden_and_given_where_it_can_be() -> None:
    async def who(
        x: str, call_id: Annotated[str, InjectedToolCallId], config: RunnableConfig
    ) -> dict[str, Any]:
        return {"id": call_id, "seen": config.get("metadata", {}).get("pegboard_call_id")}

    found = made(None, coroutine=who, name="who")
    result = await call(found, {"x": "1"})

    assert set(spec_of(found).input_schema["properties"]) == {"x"}
    assert result.unwrap() == {"id": result.meta.call_id, "seen": result.meta.call_id}


class Runtime(_DirectlyInjectedToolArg):
    """Stands for what LangGraph injects by its type alone."""


def needs_user(x: str, user: Annotated[str, InjectedToolArg]) -> str:
    return x


def needs_runtime(x: str, runtime: Runtime) -> str:
    return x


@pytest.mark.parametrize(("function", "name"), [(needs_user, "user"), (needs_runtime, "runtime")])
async def test_a_tool_that_needs_a_graph_is_unavailable(function: Any, name: str) -> None:
    found = made(function, name="x")

    assert set(spec_of(found).input_schema["properties"]) == {"x"}
    assert spec_of(found).unavailable == (
        f"it needs '{name}' from a LangGraph agent, and there is none here"
    )


async def test_what_stands_in_the_signature_alone_is_seen_too() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}

    spec = spec_of(made(needs_runtime, name="x", args_schema=schema))

    assert spec.unavailable.startswith("it needs 'runtime'")


async def test_a_tool_that_does_without_what_is_injected_runs() -> None:
    def greet(
        x: str,
        user: Annotated[str, InjectedToolArg] = "you",
        r: Runtime = None,  # type: ignore[assignment]  # as LangChain writes it
    ) -> str:
        return f"{x} {user}"

    assert (await call(made(greet, name="greet"), {"x": "hi"})).text == "hi you"


# what it answers


@pytest.mark.parametrize("value", [3, 2.5, True, None, "text", {"a": [1]}, [1, 2], ["a", "b"], []])
async def test_a_value_stays_what_it_is(value: Any) -> None:
    assert (await call(made(lambda: value, name="x"))).unwrap() == value


async def test_an_artifact_is_the_structured_value() -> None:
    def find() -> tuple[str, list[Document]]:
        return "one document", [Document("tea", id="1")]

    result = await call(made(find, name="find", response_format="content_and_artifact"))

    assert result.text == "one document"
    assert result.structured[0]["page_content"] == "tea"


async def test_bytes_become_a_file() -> None:
    chart = made(lambda: ("a chart", b"PNG"), name="x", response_format="content_and_artifact")

    result = await call(chart)

    assert [item.size for item in result.artifacts] == [3]


async def test_an_artifact_that_is_not_json_is_left_out_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    odd = made(lambda: ("text", object()), name="odd", response_format="content_and_artifact")

    result = await call(odd)

    assert (result.text, result.is_error) == ("text", False)
    assert "odd: its artifact, a object, is not JSON" in caplog.text


async def test_no_artifact_leaves_the_content() -> None:
    plain = made(lambda: ("[not json", None), name="x", response_format="content_and_artifact")

    assert (await call(plain)).unwrap() == "[not json"


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ("a", TextPart(text="a")),
        ({"type": "text", "text": "a"}, TextPart(text="a")),
        ({"type": "text-plain", "text": "a"}, TextPart(text="a")),
        (
            {"type": "image", "base64": PIXEL, "mime_type": "image/gif"},
            ImagePart(data=b"PNG", media_type="image/gif"),
        ),
        (
            {"type": "image", "source_type": "base64", "data": PIXEL},
            ImagePart(data=b"PNG", media_type="image/png"),
        ),
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/webp", "data": PIXEL},
            },
            ImagePart(data=b"PNG", media_type="image/webp"),
        ),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{PIXEL}"}},
            ImagePart(data=b"PNG", media_type="image/jpeg"),
        ),
        (
            {"type": "image_url", "image_url": "https://example.com/a.png"},
            ResourcePart(uri="https://example.com/a.png"),
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
            ResourcePart(uri="https://example.com/a.png"),
        ),
        (
            {"type": "audio", "base64": PIXEL},
            AudioPart(data=b"PNG", media_type="audio/wav"),
        ),
        ({"type": "json", "json": {"a": 1}}, TextPart(text='{"a": 1}')),
        (
            {"type": "image", "base64": "%%%"},
            TextPart(text='{"type": "image", "base64": "%%%"}'),
        ),
    ],
    ids=str,
)
def test_content_blocks_become_parts(block: Any, part: Any) -> None:
    assert result_of("x", [block, {"type": "text", "text": "end"}]).content == (
        part,
        TextPart(text="end"),
    )


def test_a_file_becomes_an_artifact() -> None:
    block = {"type": "file", "base64": PIXEL, "mime_type": "application/pdf", "filename": "a.pdf"}

    (artifact,) = result_of("x", [block]).artifacts

    assert (artifact.name, artifact.media_type, artifact.data) == (
        "a.pdf",
        "application/pdf",
        b"PNG",
    )


def test_a_list_of_other_things_is_a_value() -> None:
    assert result_of("x", [{"type": "house"}]).structured == [{"type": "house"}]


def test_a_message_that_a_tool_makes_itself_is_read() -> None:
    message = ToolMessage("hello", artifact={"a": 1}, tool_call_id="1")

    assert result_of("x", message).unwrap() == {"a": 1}


class Command(ToolOutputMixin):
    """Stands for what only a graph can follow."""


@pytest.mark.parametrize("output", [Command(), [Command()]])
async def test_a_command_to_a_graph_is_refused(output: Any) -> None:
    result = await call(made(lambda: output, name="x"))

    assert result.text.startswith("'x' answered with a command to its graph")


# how it fails


def fail(message: str = "") -> str:
    raise ToolException(message)


@pytest.mark.parametrize(
    ("handle", "text"),
    [
        pytest.param(False, "Closed today.", id="not handled"),
        pytest.param(True, "Closed today.", id="as it says"),
        pytest.param("Come back.", "Come back.", id="by a text"),
        pytest.param(lambda error: f"so: {error}", "so: Closed today.", id="by a function"),
    ],
)
async def test_a_tool_that_says_no_is_an_error_with_its_sentence(handle: Any, text: str) -> None:
    result = await call(
        made(fail, name="x", handle_tool_error=handle), {"message": "Closed today."}
    )

    assert result.is_error
    assert result.error is not None
    assert (result.error.code, result.error.message) == ("tool_failed", text)


@pytest.mark.parametrize("handle", [False, True])
async def test_what_a_tool_says_is_cut(handle: bool) -> None:
    result = await call(made(fail, name="x", handle_tool_error=handle), {"message": "y" * 5_000})

    assert result.error is not None
    assert result.error.message == "y" * 999 + "…"


@pytest.mark.parametrize("handle", [False, lambda _error: ""], ids=["not handled", "handled"])
async def test_a_tool_that_says_no_without_a_word_fails(handle: Any) -> None:
    result = await call(made(fail, name="x", handle_tool_error=handle))

    assert result.error is not None
    assert result.error.message == "'x' failed."


async def test_any_other_exception_is_for_the_operator() -> None:
    def leak() -> str:
        raise RuntimeError("password is hunter2")

    result = await call(made(leak, name="x", handle_tool_error=True))

    assert result.is_error
    assert "hunter2" not in result.text
