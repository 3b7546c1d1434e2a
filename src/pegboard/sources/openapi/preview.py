"""Previews the tool of an action without opening its source.

Thousands of actions may be registered at once, and most are not called soon.
"""

from functools import lru_cache

from pegboard.core.ports.services import Services
from pegboard.core.tool import ToolSpec
from pegboard.core.wire_names import is_wire_name, wire_name
from pegboard.sources.openapi.config import ApiAction, OpenApiConfig
from pegboard.sources.openapi.document.server_urls import has_dot_segments
from pegboard.sources.openapi.source import OpenApiSource, check_network

_PREVIEWABLE = frozenset({"actions", "base_url", "timeout"})
_MAX_PATH = 1_000


def preview(name: str, config: OpenApiConfig, services: Services) -> ToolSpec | None:
    """Return the spec of a source's only tool; None if that needs all of the configuration.

    The input schema is built on first use.

    Raises:
        SourceUnavailable: The board has no network.
    """
    from pegboard.sources.openapi.document.operations import DOT_SEGMENTS_PROBLEM

    check_network(services)
    action = config.actions[0] if len(config.actions) == 1 else None
    if action is None or not (_is_plain(action) and config.model_fields_set <= _PREVIEWABLE):
        return None
    wire = wire_name(name, action.name)
    return _template_spec(name, action.method, config.timeout).replace(
        name=wire,
        action=action.name,
        description=f"{action.method.upper()} {action.path} of {name}.",
        input_schema=lambda: (
            OpenApiSource(name, config, services).manual_tools()[0].spec.input_schema
        ),
        unavailable=DOT_SEGMENTS_PROBLEM if has_dot_segments(action.path) else "",
    )


def _is_plain(action: ApiAction) -> bool:
    """Whether an action has only an address, parameters and a body."""
    texts = (action.title, action.description, action.tags)
    is_short = len(action.path) <= _MAX_PATH
    return is_wire_name(action.name) and is_short and not any(texts)


@lru_cache(maxsize=256)
def _template_spec(name: str, method: str, timeout: float) -> ToolSpec:
    """The spec of an action with this method; all such specs differ in the address only."""
    action = ApiAction(name="alike", method=method, path="/")
    config = OpenApiConfig(base_url="https://alike.example", actions=(action,), timeout=timeout)
    return OpenApiSource(name, config, Services()).manual_tools()[0].spec
