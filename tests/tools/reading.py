"""One parameter of one type, read as a tool reads it."""

import json
from typing import Any

from pegboard.errors import ToolArgumentError
from pegboard.tools import FunctionTool
from pegboard.tools.signatures.signature import read_signature


def tool_of(hint: Any) -> FunctionTool:
    """A tool with the parameter `x` of this type."""

    def probe(x: Any) -> Any:
        return x

    probe.__annotations__ = {"x": hint}
    return FunctionTool(probe, read_signature(probe), options={})


def read(hint: Any, text: str) -> Any:
    """The value that the function would get for this JSON text."""
    return tool_of(hint).arguments(f'{{"x": {text}}}')["x"]


def refused(hint: Any, text: str) -> list[str]:
    """The lines that the caller would get for this JSON text; none when it is accepted."""
    try:
        read(hint, text)
    except ToolArgumentError as error:
        return [str(problem) for problem in error.problems]
    return []


def shown(hint: Any) -> dict[str, Any]:
    """The parameter's part of the schema that is shown, as any JSON reader sees it."""
    schema = json.loads(json.dumps(tool_of(hint).spec.input_schema))
    return schema["properties"]["x"]
