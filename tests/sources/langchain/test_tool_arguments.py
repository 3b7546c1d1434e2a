"""What a LangChain tool announces is what it can be called with, whatever its model calls it."""

from typing import Annotated, Any, Literal

import pytest
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, tool
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, field_validator
from pydantic import v1 as old

from pegboard.core.result import ToolResult
from pegboard.core.tool import ToolSpec
from pegboard.errors import ToolArgumentError
from pegboard.registry import ToolRegistry
from pegboard.sources.langchain.tools import adapt


def made(model: Any, **fields: Any) -> StructuredTool:
    def mail(**given: Any) -> dict[str, Any]:
        return given

    found = StructuredTool.from_function(mail, name="mail", description="x", **fields)
    found.args_schema = model
    return found


def spec_of(model: Any) -> ToolSpec:
    return adapt(made(model)).spec


async def call(candidate: BaseTool, arguments: Any) -> ToolResult:
    return await ToolRegistry([candidate]).call("mail", arguments)


class Aliased(BaseModel):
    sender: str = Field(alias="from")
    count: int = Field(1, alias="maxCount", gt=0)


class AliasedOrNamed(Aliased):
    model_config = ConfigDict(populate_by_name=True)


class Read(BaseModel):
    sender: str = Field(validation_alias="origin")
    count: int = Field(1, validation_alias="maxCount")


class ReadOrNamed(Read):
    model_config = ConfigDict(validate_by_name=True)


class NamedOnly(Aliased):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=False)


class Chosen(BaseModel):
    sender: str = Field(validation_alias=AliasChoices(AliasPath("a", 0), "from", "origin"))
    count: int = Field(1, validation_alias=AliasChoices("count", "maxCount"))


class PathOfOne(BaseModel):
    sender: str = Field(validation_alias=AliasPath("from"))
    count: int = Field(1, alias="maxCount")


class Generated(BaseModel):
    model_config = ConfigDict(alias_generator=str.upper)

    sender: str
    count: int = 1


class Swapped(BaseModel):
    sender: str = Field(alias="count")
    count: int = Field(1, alias="sender")


class Strict(Aliased):
    model_config = ConfigDict(extra="forbid")


class Written(BaseModel):
    sender: str = Field(serialization_alias="from")
    count: int = 1


class Old(old.BaseModel):
    sender: str = old.Field(alias="from")
    count: int = old.Field(1, alias="maxCount")


class OldOrNamed(Old):
    class Config:
        allow_population_by_field_name = True


class OldLegible(old.BaseModel):
    sender: str = old.Field(alias="origin")
    count: int = old.Field(1, alias="maxCount")


@pytest.mark.parametrize(
    ("model", "sender", "count"),
    [
        (Aliased, "from", "maxCount"),
        (AliasedOrNamed, "sender", "count"),
        (Read, "origin", "maxCount"),
        (ReadOrNamed, "sender", "count"),
        (NamedOnly, "sender", "count"),
        (Chosen, "from", "count"),
        (PathOfOne, "from", "maxCount"),
        (Generated, "SENDER", "COUNT"),
        (Swapped, "count", "sender"),
        (Strict, "from", "maxCount"),
        (Written, "sender", "count"),
        (Old, "from", "maxCount"),
        (OldOrNamed, "from", "maxCount"),
        (OldLegible, "origin", "maxCount"),
    ],
)
async def test_what_is_announced_reaches_the_function(model: Any, sender: str, count: str) -> None:
    candidate, schema = made(model), spec_of(model).input_schema

    assert {name: part["type"] for name, part in schema["properties"].items()} == {
        sender: "string",
        count: "integer",
    }
    assert (schema["required"], schema["additionalProperties"]) == ([sender], False)
    assert spec_of(model).unavailable == ""
    all_of_it = await call(candidate, {sender: "Ada", count: 7})
    assert all_of_it.unwrap() == {"sender": "Ada", "count": 7}
    required = await call(candidate, {sender: "Ada"})
    assert required.unwrap() == {"sender": "Ada", "count": 1}


@pytest.mark.parametrize(
    "how",
    [{"response_format": "content_and_artifact"}, {"handle_validation_error": True}],
    ids=str,
)
async def test_a_whole_call_has_the_same_names(how: dict[str, Any]) -> None:
    candidate = made(Aliased, **how)
    if "response_format" in how:
        candidate.func = lambda **given: ("done", given)

    result = await call(candidate, {"from": "Ada", "maxCount": 7})

    assert result.structured == {"sender": "Ada", "count": 7}


async def test_an_async_tool_has_the_same_names() -> None:
    async def mail(sender: str, count: int) -> str:
        return f"{sender} {count}"

    candidate = StructuredTool.from_function(
        coroutine=mail, name="mail", description="x", args_schema=Aliased
    )

    assert (await call(candidate, {"from": "Ada"})).text == "Ada 1"


async def test_a_class_of_its_own_has_the_same_names() -> None:
    class Mail(BaseTool):
        name: str = "mail"
        description: str = "x"
        args_schema: Any = Read

        def _run(self, sender: str, count: int) -> str:
            return f"{sender} {count}"

    assert (await call(Mail(), {"origin": "Ada", "maxCount": 2})).text == "Ada 2"


async def test_an_old_model_may_bound_what_can_be_left_out() -> None:
    class Bounded(old.BaseModel):
        sender: str = old.Field(alias="from", max_length=9)
        count: int = old.Field(1, ge=1)

    schema = spec_of(Bounded).input_schema

    assert schema["properties"]["count"]["minimum"] == 1
    assert (await call(made(Bounded), {"from": "Ada"})).unwrap() == {"sender": "Ada", "count": 1}


async def test_a_model_of_another_title_refuses_arguments_with_its_reasons() -> None:
    class Titled(BaseModel):
        model_config = ConfigDict(title="A mail")

        count: int

        @field_validator("count")
        @classmethod
        def is_even(cls, value: int) -> int:
            if value % 2:
                raise ValueError("not odd ones")
            return value

    with pytest.raises(ToolArgumentError, match="not odd ones"):
        (await call(made(Titled), {"count": 3})).unwrap()


async def test_an_alias_in_a_signature_is_none_to_langchain() -> None:
    @tool
    def mail(sender: Annotated[str, Field(alias="from")]) -> str:
        """Send it."""
        return sender

    assert list(adapt(mail).spec.input_schema["properties"]) == ["sender"]
    assert (await call(mail, {"sender": "Ada"})).text == "Ada"


async def test_a_name_that_is_not_announced_is_refused_with_the_one_that_is() -> None:
    refused = await call(made(Aliased), {"sender": "Ada"})

    assert isinstance(refused.error, ToolArgumentError)
    assert "from" in refused.text


class Even(BaseModel):
    count: int = Field(alias="maxCount")

    @field_validator("count")
    @classmethod
    def even(cls, count: int) -> int:
        if count % 2:
            raise ValueError("it is odd")
        return count


async def test_a_validator_names_the_argument_as_it_is_announced() -> None:
    refused = await call(made(Even), {"maxCount": 3})

    assert isinstance(refused.error, ToolArgumentError)
    assert "- maxCount: Value error, it is odd" in refused.text


class Dog(BaseModel):
    kind: Literal["dog"]
    barks_at: str = Field(alias="barksAt")


class Cat(BaseModel):
    kind: Literal["cat"]


class Pets(BaseModel):
    pet: Dog | Cat = Field(alias="thePet", discriminator="kind", description="Which one.")
    tags: list[str] = Field(default_factory=list, alias="theTags", examples=[["a"]])


async def test_the_rest_of_a_renamed_field_stays_what_it_is() -> None:
    schema = spec_of(Pets).input_schema

    assert schema["properties"]["thePet"]["description"] == "Which one."
    assert schema["properties"]["theTags"]["examples"] == [["a"]]
    assert schema["$defs"]["Dog"]["required"] == ["kind", "barksAt"]
    result = await call(made(Pets), {"thePet": {"kind": "dog", "barksAt": "cats"}})
    assert result.unwrap() == {"pet": {"kind": "dog", "barksAt": "cats"}, "tags": []}


class Elsewhere(BaseModel):
    sender: str = Field("nobody", validation_alias=AliasPath("envelope", "from"))


class ElsewhereOrNamed(Elsewhere):
    model_config = ConfigDict(populate_by_name=True)


async def test_an_argument_without_a_name_makes_a_tool_unavailable_with_the_fix() -> None:
    assert spec_of(Elsewhere).unavailable == (
        "its argument 'sender' is read from within another one (AliasPath), so that it has no name "
        "to be given by: add an alias that is a name, or populate_by_name=True, to its args_schema"
    )
    assert spec_of(ElsewhereOrNamed).unavailable == ""
    assert (await call(made(ElsewhereOrNamed), {"sender": "Ada"})).unwrap() == {"sender": "Ada"}


class Injected(BaseModel):
    sender: str = Field(alias="from")
    user: Annotated[str, InjectedToolArg] = Field("nobody", alias="theUser")
    role: Annotated[str, InjectedToolArg] = Field("none", validation_alias="theRole")


class OldInjected(old.BaseModel):
    sender: str = old.Field(alias="from")
    user: Annotated[str, InjectedToolArg] = old.Field("nobody", alias="theUser")
    role: Annotated[str, InjectedToolArg] = old.Field("none", alias="the-role")


@pytest.mark.parametrize("model", [Injected, OldInjected])
async def test_what_is_injected_stays_hidden_under_any_name(model: Any) -> None:
    assert list(spec_of(model).input_schema["properties"]) == ["from"]
    result = await call(made(model), {"from": "Ada"})
    assert result.unwrap() == {"sender": "Ada", "user": "nobody", "role": "none"}
    assert (await call(made(model), {"from": "Ada", "theUser": "root"})).is_error
    assert (await call(made(model), {"from": "Ada", "the-role": "root"})).is_error


class NeedsUser(BaseModel):
    sender: str
    user: Annotated[str, InjectedToolArg] = Field(validation_alias="theUser")


def test_what_a_graph_injects_is_missed_under_any_name() -> None:
    assert spec_of(NeedsUser).unavailable.startswith("it needs 'user' from a LangGraph agent")


class CallId(BaseModel):
    sender: str
    call_id: Annotated[str, InjectedToolCallId] = Field(alias="callId")


class ReadCallId(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    sender: str
    call_id: Annotated[str, InjectedToolCallId] = Field(validation_alias="callId")


class OldCallId(old.BaseModel):
    sender: str
    call_id: Annotated[str, InjectedToolCallId] = old.Field(alias="callId")


@pytest.mark.parametrize("model", [CallId, ReadCallId, OldCallId])
async def test_a_call_id_that_langchain_cannot_give_makes_a_tool_unavailable(model: Any) -> None:
    assert spec_of(model).unavailable == (
        "LangChain gives 'call_id' by that name, and its args_schema reads it by an alias: take "
        "the alias away"
    )
    given = {"type": "tool_call", "id": "1", "name": "mail", "args": {"sender": "Ada"}}
    with pytest.raises(ValueError, match="callId"):
        await made(model).ainvoke(given)


class NamedCallId(CallId):
    model_config = ConfigDict(populate_by_name=True)


async def test_a_call_id_that_may_be_given_by_name_is_given() -> None:
    result = await call(made(NamedCallId), {"sender": "Ada"})

    assert result.unwrap() == {"sender": "Ada", "call_id": result.meta.call_id}
