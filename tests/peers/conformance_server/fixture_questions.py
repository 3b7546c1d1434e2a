"""Tools and a prompt of the MCP conformance suite that ask their caller something."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from pegboard import ToolContext, tool
from pegboard.core.elicitation import Answer, Question, Sample, SampleMessage, SampleRequest
from pegboard.core.resources_and_prompts import FilledPrompt, PromptMessage
from pegboard.core.result import TextPart
from pegboard.tools import prompt


def _form(*required: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _text(sample: Sample) -> str:
    return "".join(part.text for part in sample.content if isinstance(part, TextPart))


def _said(answer: Answer) -> str:
    return f"action={answer.action}, content={json.dumps(dict(answer.content))}"


def _prompting(text: str, *, name: str = "", max_tokens: int = 100) -> SampleRequest:
    message = SampleMessage(role="user", content=(TextPart(text=text),))
    return SampleRequest(messages=(message,), max_tokens=max_tokens, name=name)


_NAME = Question(
    message="What is your name?", schema=_form("name", name={"type": "string"}), name="user_name"
)


@tool(effect="read")
async def test_sampling(prompt: str, ctx: ToolContext) -> str:
    """Ask the caller's model."""
    return f"LLM response: {_text(await ctx.sample(_prompting(prompt)))}"


@tool(effect="read")
async def test_missing_capability(ctx: ToolContext) -> str:
    """Need a model of the caller."""
    return _text(await ctx.sample(_prompting("Hello")))


@tool(effect="read")
async def test_elicitation(message: str, ctx: ToolContext) -> str:
    """Ask the person for a name and an address."""
    form = _form(
        "username",
        "email",
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    return f"User response: {_said(await ctx.ask(Question(message=message, schema=form)))}"


@tool(effect="read")
async def test_streaming_elicitation(ctx: ToolContext) -> str:
    """Ask while there is something to tell."""
    await ctx.tell("about to ask")
    return _said(await ctx.ask(_NAME))


@tool(effect="read")
async def test_elicitation_sep1034_defaults(ctx: ToolContext) -> str:
    """Ask with a default for each primitive type."""
    form = _form(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    answer = await ctx.ask(Question(message="Please review the defaults", schema=form))
    return f"Elicitation completed: {_said(answer)}"


@tool(effect="read")
async def test_elicitation_sep1330_enums(ctx: ToolContext) -> str:
    """Ask with each kind of choice."""
    options = ["option1", "option2", "option3"]
    titled = [
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]
    form = _form(
        untitledSingle={"type": "string", "enum": options},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": options}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )
    answer = await ctx.ask(Question(message="Please choose", schema=form))
    return f"Elicitation completed: {_said(answer)}"


@tool(effect="read")
async def test_input_required_result_elicitation(ctx: ToolContext) -> str:
    """Ask for a name."""
    answer = await ctx.ask(_NAME)
    return f"Hello, {answer.content.get('name', 'stranger')}!"


@tool(effect="read")
async def test_input_required_result_sampling(ctx: ToolContext) -> str:
    """Ask the caller's model."""
    return _text(
        await ctx.sample(_prompting("What is the capital of France?", name="capital_question"))
    )


@tool(effect="read")
async def test_input_required_result_request_state(ctx: ToolContext) -> str:
    """Ask for a confirmation."""
    await ctx.ask(_CONFIRM)
    return "state-ok"


@tool(effect="read")
async def test_input_required_result_tampered_state(ctx: ToolContext) -> str:
    """The same, for whoever sends another state back."""
    await ctx.ask(_CONFIRM)
    return "state-ok"


_CONFIRM = Question(
    message="Please confirm", schema=_form("ok", ok={"type": "boolean"}), name="confirm"
)


@tool(effect="read")
async def test_input_required_result_multiple_inputs(ctx: ToolContext) -> str:
    """Ask a person and a model at once."""
    async with asyncio.TaskGroup() as group:
        name = group.create_task(ctx.ask(_NAME))
        greeting = group.create_task(
            ctx.sample(_prompting("Generate a greeting", name="greeting", max_tokens=50))
        )
    return f"{_text(greeting.result())} {name.result().content.get('name')}"


@tool(effect="read")
async def test_input_required_result_capabilities(ctx: ToolContext) -> str:
    """Ask whom the client can ask."""
    if ctx.elicitor is not None and ctx.elicitor.takes_samples:
        return _text(await ctx.sample(_prompting("Hello", name="hello")))
    return _said(await ctx.ask(_NAME))


@tool(effect="read")
async def test_input_required_result_multi_round(ctx: ToolContext) -> str:
    """Ask twice, one after the other."""
    first = await ctx.ask(
        Question(
            message="Step 1: What is your name?",
            schema=_form("name", name={"type": "string"}),
            name="step1",
        )
    )
    second = await ctx.ask(
        Question(
            message="Step 2: What is your favorite color?",
            schema=_form("color", color={"type": "string"}),
            name="step2",
        )
    )
    return f"{first.content.get('name')} likes {second.content.get('color')}"


@prompt
async def test_input_required_result_prompt(ctx: ToolContext) -> FilledPrompt:
    """A prompt that asks for its context."""
    answer = await ctx.ask(
        Question(
            message="What context should the prompt use?",
            schema=_form("context", context={"type": "string"}),
            name="user_context",
        )
    )
    text = TextPart(text=f"Use this context: {answer.content.get('context')}")
    return FilledPrompt(messages=(PromptMessage(role="user", content=text),))
