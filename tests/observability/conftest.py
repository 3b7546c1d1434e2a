"""OpenTelemetry's own SDK, and what it was given."""

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pegboard.observability import Traces
from pegboard.testing import FakeClock


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    """Keeps the spans that have ended."""
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> Iterator[TracerProvider]:
    """Hands spans to the exporter as soon as they end."""
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(exporter))
    yield made
    made.shutdown()


@pytest.fixture
def traces(provider: TracerProvider, clock: FakeClock) -> Iterator[Traces]:
    """The listener."""
    made = Traces(provider, clock=clock)
    yield made
    made.close()
