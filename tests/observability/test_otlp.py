"""Spans reach a collector over OTLP/HTTP; the one here decodes the protobuf it is sent."""

import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from gzip import decompress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from pegboard import tool
from pegboard.errors import ConfigError
from pegboard.observability.otlp import create_otlp_provider
from pegboard.runtime import Pegboard, Settings


@dataclass(slots=True)
class Collector:
    """What a collector was sent."""

    url: str = ""
    paths: list[str] = field(default_factory=list[str])
    requests: list[ExportTraceServiceRequest] = field(
        default_factory=list[ExportTraceServiceRequest]
    )


@pytest.fixture
def collector() -> Generator[Collector]:
    """An OTLP/HTTP collector on a free port."""
    kept = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = decompress(body)
            kept.paths.append(self.path)
            kept.requests.append(ExportTraceServiceRequest.FromString(body))
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        kept.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield kept
        server.shutdown()
        thread.join()


@tool(effect="read")
def greet(name: str) -> str:
    """Greet."""
    return f"Hello {name}!"


async def test_the_calls_of_a_board_reach_the_collector(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    async with Pegboard(settings=Settings(traces=True), tools=[greet]) as board:
        await board.call("greet", {"name": "Ada"})
        await board.call("greet", {})

    (request,) = collector.requests
    (resource,) = request.resource_spans
    spans = resource.scope_spans[0].spans
    attributes = {item.key: item.value.string_value for item in spans[0].attributes}
    service = {item.key: item.value.string_value for item in resource.resource.attributes}
    assert collector.paths == ["/v1/traces"]
    assert service["service.name"] == "pegboard"
    assert [span.name for span in spans] == ["execute_tool greet", "execute_tool greet"]
    assert attributes["gen_ai.tool.name"] == "greet"
    assert [span.status.code for span in spans] == [0, 2]
    assert "Ada" not in str(request)


def test_without_an_endpoint_there_is_no_exporter() -> None:
    assert create_otlp_provider({"PATH": "x"}) is None


def test_a_protocol_that_is_not_supported_is_told() -> None:
    with pytest.raises(ConfigError, match="OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf"):
        create_otlp_provider(
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
        )
