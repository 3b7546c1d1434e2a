"""Resources and prompts that the MCP conformance suite asks for."""

import json

from fixture_tools import PNG

from pegboard.core.result import ImagePart, Part, ResourcePart, TextPart
from pegboard.tools import prompt, resource


@resource("test://static-text", media_type="text/plain")
def static_text() -> str:
    """A static text."""
    return "This is the content of the static text resource."


@resource("test://static-binary", media_type="image/png")
def static_binary() -> bytes:
    """A static image."""
    return PNG


@resource("test://template/{id}/data", media_type="application/json")
def template(id: str) -> str:
    """Data of an id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@resource("test://watched-resource", media_type="text/plain")
def watched() -> str:
    """A resource that can be followed."""
    return "Watched resource content"


@prompt
def test_simple_prompt() -> str:
    """A simple prompt."""
    return "This is a simple prompt for testing."


@prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with arguments.

    Args:
        arg1: First test argument.
        arg2: Second test argument.
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Part]:
    """A prompt with an embedded resource.

    Args:
        resourceUri: URI of the resource to embed.
    """
    return [
        ResourcePart(
            uri=resourceUri,
            media_type="text/plain",
            text="Embedded resource content for testing.",
        ),
        TextPart(text="Please process the embedded resource above."),
    ]


@prompt
def test_prompt_with_image() -> list[Part]:
    """A prompt with an image."""
    return [
        ImagePart(data=PNG, media_type="image/png"),
        TextPart(text="Please analyze the image above."),
    ]
