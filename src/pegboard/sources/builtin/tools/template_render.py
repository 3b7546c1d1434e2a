"""`template_render`: renders a template with data."""

from typing import Annotated, Any, Literal

from pydantic import Field

from pegboard.core.ports.services import Services
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.confined_process import run_confined, unavailable
from pegboard.tools import tool


def availability(_: Services) -> str:
    """Return why templates cannot be rendered: they need a confined process."""
    return unavailable()


@tool(effect="read", category="general", idempotent=True, timeout=15, tags=("template", "jinja"))
async def template_render(
    template: Annotated[str, Field(max_length=100_000)],
    *,
    data: dict[str, Any] | None = None,
    escape: Literal["none", "html"] = "none",
) -> str:
    """Fill a template with data and return the text.

    The template language is Jinja: {{ name }}, {{ order.total }}, filters as in
    {{ items | join(", ") }}, {% for item in items %}...{% endfor %}, {% if %}, {% set %} and
    {% macro %}. A name that the data does not have is an error; {{ name | default("-") }} allows
    for it. There are no files, includes or code.

    Args:
        template: The template's text.
        data: The values of the template's names, as one JSON object.
        escape: "html" when the result becomes part of a web page and the data is not to be trusted.
    """
    payload = {"template": template, "data": data or {}, "escape": escape}
    answer = await run_confined("render", payload)
    if "error" in answer:
        raise InvalidRequest(f"The template cannot be rendered: {answer['error']}.")
    return answer["text"]
