"""The part of a definition that comes from the document, which is what a pin covers."""

from collections.abc import Sequence

from pegboard.sources.openapi.api import Api, version_of
from pegboard.sources.openapi.config import OpenApiConfig, OperationOverride
from pegboard.sources.openapi.document.lenient_access import mapping, sequence, text
from pegboard.sources.openapi.document.loader import is_pasted
from pegboard.sources.openapi.document.operations import Operation
from pegboard.sources.openapi.document.server_urls import swagger_servers


def is_manual(operation: Operation, config: OpenApiConfig) -> bool:
    """Whether the operator wrote the operation, rather than a third party's document."""
    if not isinstance(config.document, str) or is_pasted(config.document):
        return True  # the whole document is in the board file
    return any(
        (one.name, one.method, one.path) == (operation.id, operation.method, operation.path)
        for one in config.actions
    )


def fields_not_published(override: OperationOverride, config: OpenApiConfig) -> frozenset[str]:
    """Return the fields of the document that the operator does not publish."""
    is_promised = config.promise_outputs and not override.projection
    return frozenset() if is_promised else frozenset({"output_schema"})


def describe_route(api: Api, operation: Operation) -> str:
    """Describe where the document sends requests: another route is another definition.

    ```
    openapi GET /orders/{id} of https://api.example.com/v1
    ```
    """
    servers = operation.servers or _servers(api)
    addresses = ", ".join(_address(item) for item in servers)
    return f"openapi {operation.place}" + (f" of {addresses}" if addresses else "")


def _servers(api: Api) -> Sequence[object]:
    root = api.reader.root
    return swagger_servers(root, "") if version_of(root) == "2.0" else sequence(root.get("servers"))


def _address(server: object) -> str:
    """Return a server with the values of its variables, without descriptions."""
    url = text(mapping(server).get("url"))
    variables = mapping(mapping(server).get("variables"))
    values = [f"{name}={mapping(item).get('default')}" for name, item in variables.items()]
    return " ".join((url, *values))
