"""Exports spans over OTLP/HTTP, as the standard `OTEL_*` variables configure it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pegboard.errors import ConfigError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_SUPPORTED = "http/protobuf"


def create_otlp_provider(environ: Mapping[str, str]) -> "TracerProvider | None":
    """Create a provider that exports to the configured collector.

    Args:
        environ: The variables of the process; the exporter reads its other options from them.

    Returns:
        The provider, which its user shuts down; None without an endpoint, or where the application
        has set a provider.

    Raises:
        ConfigError: The exporter is not installed, or the protocol is not supported.
    """
    if not any(environ.get(name) for name in _ENDPOINTS):
        return None
    for name in _PROTOCOLS:
        if environ.get(name, _SUPPORTED) != _SUPPORTED:
            raise ConfigError(f"{name}: only {_SUPPORTED} is supported, not '{environ[name]}'")
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ConfigError("Traces need OpenTelemetry: pip install 'pegboard[otel]'") from error
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return None
    name = environ.get("OTEL_SERVICE_NAME") or "pegboard"
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
