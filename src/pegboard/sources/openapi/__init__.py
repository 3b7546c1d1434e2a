"""REST APIs, described by an OpenAPI document or by actions written in the configuration."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.local_use import find_local_use
from pegboard.sources.openapi.preview import preview
from pegboard.sources.openapi.source import open_source

KIND = SourceKind(
    kind="openapi",
    title="REST API",
    config=OpenApiConfig,
    open=open_source,
    preview=preview,
    remote=True,
    find_local_use=find_local_use,
)

__all__ = ["KIND"]
