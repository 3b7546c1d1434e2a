"""Builds the description of an API from its document and from the operator's actions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.errors import SourceUnavailable
from pegboard.sources.openapi.config import ApiAction, OpenApiConfig
from pegboard.sources.openapi.document.lenient_access import (
    EMPTY,
    LocatedNode,
    Node,
    mapping,
    sequence,
)
from pegboard.sources.openapi.document.loader import ApiDocument
from pegboard.sources.openapi.document.operations import Operation, OperationReader
from pegboard.sources.openapi.document.parser import to_json_data
from pegboard.sources.openapi.document.references import References
from pegboard.sources.openapi.document.server_urls import (
    BadServerUrl,
    origin_of,
    server_url,
    swagger_servers,
)
from pegboard.sources.openapi.document.swagger2 import SwaggerReader
from pegboard.sources.openapi.schema.translator import SchemaTranslator

_SIBLINGS_COUNT = ("3.1", "3.2")
_IN_PATH = re.compile(r"\{([^{}/]+)\}")
_KNOWN = ("2.0", "3.0", *_SIBLINGS_COUNT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """An API that can be called.

    Attributes:
        schemes: The security schemes, by name.
        request_schemas: Schemas of requests, without `readOnly` properties.
        response_schemas: Schemas of responses, without `writeOnly` properties.
        base: The base URL of requests, unless an operation has a server of its own.
        base_problem: Why there is no base URL; empty when there is one.
        trusted_origins: Origins that receive the credentials.
    """

    reader: OperationReader
    operations: Sequence[Operation]
    schemes: Mapping[str, Node]
    request_schemas: SchemaTranslator
    response_schemas: SchemaTranslator
    base: str
    base_problem: str
    trusted_origins: frozenset[str]
    document_url: str = ""


def build_api(document: ApiDocument | None, config: OpenApiConfig) -> Api:
    """Build the API that the document, the operator's actions, or both describe.

    Raises:
        SourceUnavailable: The format is unknown, or the document has nothing to call.
    """
    root = document.root if document else {"openapi": "3.1.0"}
    version = version_of(root)
    references = References(document.files, document.refused) if document else References({"": {}})
    is_swagger = version == "2.0"
    reader = (SwaggerReader if is_swagger else OperationReader)(root, references)
    operations = (*reader.operations(), *manual_operations(config.actions))
    if document is not None:
        _check_paths(root, version, has_operations=bool(operations))
    url = document.url if document else ""
    base, problem = _base_url(root, config, url, is_swagger=is_swagger)
    if problem and operations and not any(one.servers for one in operations):
        raise SourceUnavailable(problem, permanent=True)
    return Api(
        reader=reader,
        operations=operations,
        schemes=reader.security_schemes(),
        request_schemas=SchemaTranslator(
            references, sending=True, siblings=version in _SIBLINGS_COUNT
        ),
        response_schemas=SchemaTranslator(
            references, sending=False, siblings=version in _SIBLINGS_COUNT
        ),
        base=base,
        base_problem=problem,
        trusted_origins=_credential_origins(config, base, url),
        document_url=url,
    )


def _check_paths(root: Node, version: str, *, has_operations: bool) -> None:
    """Refuse a document without paths: only since 3.1 may it hold webhooks or components alone."""
    paths = root.get("paths", EMPTY)
    if not isinstance(paths, Mapping):
        found = "null" if paths is None else "a list" if isinstance(paths, list) else "no mapping"
        raise SourceUnavailable(
            f"The 'paths' of the document is {found}: write its operations under their paths, as "
            "in paths: {/orders: {get: {...}}}.",
            permanent=True,
        )
    if has_operations or "paths" in root or version in _SIBLINGS_COUNT:
        return
    raise SourceUnavailable(
        "The document has no 'paths', so that it has nothing to call: take the whole document, or "
        "write operations into 'actions'.",
        permanent=True,
    )


def version_of(root: Node) -> str:
    """Return the version of the format: `2.0`, `3.0`, `3.1` or `3.2`.

    Raises:
        SourceUnavailable: It is none of these versions.
    """
    given = str(root.get("openapi") or root.get("swagger") or "")
    version = ".".join(given.split(".")[:2])
    if version not in _KNOWN:
        found = "it has neither 'openapi' nor 'swagger'"
        if given:
            found = f"its version is {given[:20]!r}"
        raise SourceUnavailable(
            f"This is not an OpenAPI 3 or Swagger 2.0 document: {found}.", permanent=True
        )
    return version


def base_url_of(api: Api, operation: Operation, config: OpenApiConfig) -> str:
    """Return the base URL for the requests of one operation.

    Raises:
        BadServerUrl: There is none.
    """
    if operation.servers and not config.base_url:
        return server_url(operation.servers, 0, config.server_variables, api.document_url)
    if api.base_problem:
        raise BadServerUrl(api.base_problem)
    return api.base


def _base_url(root: Node, config: OpenApiConfig, url: str, *, is_swagger: bool) -> tuple[str, str]:
    if config.base_url:
        return config.base_url, ""
    servers = swagger_servers(root, url) if is_swagger else sequence(root.get("servers"))
    try:
        return server_url(servers, config.server, config.server_variables, url), ""
    except BadServerUrl as error:
        return "", str(error)


def _credential_origins(config: OpenApiConfig, base: str, url: str) -> frozenset[str]:
    """Origins named by the operator, or by a document on this machine.

    A document fetched from a URL cannot decide who receives the credentials.
    """
    named = {origin_of(origin) for origin in config.credential_origins}
    if config.base_url or not url:
        return frozenset({*named, origin_of(base)})
    return frozenset({*named, origin_of(url)})


def title_of(root: Node) -> str:
    """Return the title of the API."""
    title = mapping(root.get("info")).get("title")
    return title.strip() if isinstance(title, str) else ""


def manual_operations(actions: Sequence[ApiAction]) -> Iterable[Operation]:
    """Yield each action as an operation of an OpenAPI 3.1 document."""
    reader = OperationReader({}, References({"": {}}))
    for action in actions:
        item: dict[str, Any] = {action.method: _operation_node(action)}
        yield reader.operation(action.path, action.method, LocatedNode(node=item))


def _operation_node(action: ApiAction) -> dict[str, Any]:
    in_path = set(_IN_PATH.findall(action.path))
    made: dict[str, Any] = {
        "operationId": action.name,
        "summary": action.title,
        "description": action.description,
        "tags": list(action.tags),
        "parameters": [
            {
                "name": one.name,
                "in": one.location or ("path" if one.name in in_path else "query"),
                "description": one.description,
                "required": one.required,
                "schema": to_json_data(one.json_schema),
            }
            for one in action.parameters
        ],
    }
    if action.body is not None:
        made["requestBody"] = {
            "required": action.body_required,
            "content": {action.body_type: {"schema": to_json_data(action.body)}},
        }
    return made
