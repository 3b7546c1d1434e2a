"""Reads operations into one form for every version of the format."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.sources.openapi.document.lenient_access import (
    EMPTY,
    LocatedNode,
    Node,
    mapping,
    sequence,
    text,
    texts,
)
from pegboard.sources.openapi.document.references import BadReference, References
from pegboard.sources.openapi.document.server_urls import has_dot_segments, own_servers

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
LOCATIONS = ("path", "query", "header", "cookie")
STYLES: Mapping[str, tuple[str, ...]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
_IN_PATH = re.compile(r"\{([^{}/]+)\}")
DOT_SEGMENTS_PROBLEM = (
    "Its path has a '.' or '..' segment, which would lead out of the API's base URL."
)
# OpenAPI 3.1.1, 4.8.12.1: these are not parameters; credentials and bodies set them
_NOT_PARAMETERS = frozenset({"accept", "content-type", "authorization"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationParameter:
    """A parameter outside of the body.

    Attributes:
        location: `path`, `query`, `header` or `cookie`.
        content_type: The content type that replaces `style`; empty without one.
        nested: The styles of nested arrays, outermost first (Swagger 2.0); without one they are
            JSON.
        fault: A mistake of the document in it, as a sentence; empty without one.
    """

    name: str
    location: str
    schema: LocatedNode
    required: bool = False
    description: str = ""
    deprecated: bool = False
    style: str = "form"
    explode: bool = False
    allow_reserved: bool = False
    content_type: str = ""
    nested: tuple[str, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBody:
    """The body of a request.

    Attributes:
        media: Schema and encoding by content type, in the order of the document.
    """

    media: Mapping[str, LocatedNode]
    required: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method on one path.

    Attributes:
        id: The `operationId`; empty without one.
        security: Alternatives, each naming schemes; None without requirements.
        servers: Its own servers; empty means those of the document.
        produces: Content types of its responses (Swagger 2.0).
        problem: Why it cannot be called; empty if it can.
    """

    method: str
    path: str
    id: str = ""
    summary: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    deprecated: bool = False
    parameters: tuple[OperationParameter, ...] = ()
    body: RequestBody | None = None
    responses: LocatedNode = field(default_factory=lambda: LocatedNode(node=EMPTY))
    security: Sequence[object] | None = None
    servers: Sequence[object] = ()
    produces: tuple[str, ...] = ()
    problem: str = ""

    @property
    def place(self) -> str:
        """Method and path: `GET /orders/{id}`."""
        return f"{self.method.upper()} {self.path}"


class OperationReader:
    """Reads the operations of OpenAPI 3; a subclass covers Swagger 2.0."""

    def __init__(self, root: Node, references: References) -> None:
        self.root = root
        self.references = references

    def security_schemes(self) -> dict[str, Node]:
        """Return the security schemes of the document, by name."""
        schemes = mapping(mapping(self.root.get("components")).get("securitySchemes"))
        found: dict[str, Node] = {}
        for name, node in schemes.items():
            ref = text(mapping(node).get("$ref")).removeprefix("#/components/securitySchemes/")
            found[name] = mapping(schemes.get(ref)) if ref else mapping(node)
        return found

    def operations(self) -> Iterator[Operation]:
        """Yield every operation, in the order of the document."""
        for path, item in mapping(self.root.get("paths")).items():
            if path.startswith("x-"):
                continue  # an extension
            try:
                place = self.references.resolve(LocatedNode(node=item))
            except BadReference as error:
                yield Operation(method="get", path=path, problem=f"Its path item: {error}.")
                continue
            for method in METHODS:
                if isinstance(place.fields.get(method), dict):
                    yield self.operation(path, method, place)

    def operation(self, path: str, method: str, item: LocatedNode) -> Operation:
        """Read one method of a path item."""
        place = item.at(method)
        node = place.fields
        problem, parameters, body = _path_problem(path), (), None
        try:
            parameters = self._parameters(path, item, place)
            body = self.body(place, item)
        except BadReference as error:
            problem = f"{error}."
        security = node.get("security", self.root.get("security"))
        return Operation(
            method=method,
            path=path,
            id=text(node.get("operationId")).strip(),
            summary=text(node.get("summary")) or text(item.fields.get("summary")),
            description=text(node.get("description")) or text(item.fields.get("description")),
            tags=texts(node.get("tags")),
            deprecated=node.get("deprecated") is True,
            parameters=parameters,
            body=body,
            responses=place.at("responses"),
            security=None if security is None else sequence(security),
            servers=own_servers(item, node),
            produces=self.produces(place),
            problem=problem,
        )

    def body(self, operation: LocatedNode, _item: LocatedNode) -> RequestBody | None:
        """Read the body of an operation; None if it takes none.

        Raises:
            BadReference: A reference in it cannot be resolved.
        """
        if not operation.fields.get("requestBody"):
            return None
        place = self.references.resolve(operation.at("requestBody"))
        content = place.at("content")
        media = {kind.strip(): content.at(kind) for kind in content.fields if "/" in kind}
        if not media:
            return None
        return RequestBody(
            media=media,
            required=place.fields.get("required") is True,
            description=text(place.fields.get("description")),
        )

    def produces(self, _operation: LocatedNode) -> tuple[str, ...]:
        """Return the content types of all responses; in OpenAPI 3 each response has its own."""
        return ()

    def response(
        self, place: LocatedNode, _produces: Sequence[str] = ()
    ) -> tuple[tuple[str, LocatedNode], ...]:
        """Return the content types of a response with their schemas.

        Args:
            place: The response.
            produces: The content types of the operation.
        """
        content = self.references.resolve(place).at("content")
        return tuple((kind, content.at(kind).at("schema")) for kind in content.fields)

    def parameter(self, place: LocatedNode) -> OperationParameter | None:
        """Read one parameter; None if it is not sent as one.

        Raises:
            BadReference: Its location is unknown.
        """
        node = place.fields
        name, location = text(node.get("name")), text(node.get("in"))
        if not name or location not in LOCATIONS:
            raise BadReference(f"a parameter {name!r} in {location!r} has no known location")
        schema, content_type = place.at("schema"), ""
        content = place.at("content")
        if content.fields:
            content_type = next(iter(content.fields))
            schema = content.at(content_type).at("schema")
        style = text(node.get("style"))
        if style not in STYLES[location]:
            style = STYLES[location][0]
        explode = node.get("explode")
        return OperationParameter(
            name=name,
            location=location,
            schema=schema,
            required=node.get("required") is True or location == "path",
            description=text(node.get("description")),
            deprecated=node.get("deprecated") is True,
            style=style,
            explode=explode if isinstance(explode, bool) else style in ("form", "deepObject"),
            allow_reserved=node.get("allowReserved") is True,
            content_type=content_type,
        )

    def own_parameters(self, item: LocatedNode, operation: LocatedNode) -> list[LocatedNode]:
        """Return the parameters of an operation and its path; the operation's own win."""
        found: dict[tuple[Any, Any], LocatedNode] = {}
        for place in (*item.at("parameters").items(), *operation.at("parameters").items()):
            resolved = self.references.resolve(place)
            found[resolved.fields.get("name"), resolved.fields.get("in")] = resolved
        return list(found.values())

    def _parameters(
        self, path: str, item: LocatedNode, operation: LocatedNode
    ) -> tuple[OperationParameter, ...]:
        named = _IN_PATH.findall(path)
        made: list[OperationParameter] = []
        for place in self.own_parameters(item, operation):
            parameter = self.parameter(place)
            if parameter is None or _is_ignored(parameter, named):
                continue
            made.append(parameter)
        described = {one.name for one in made if one.location == "path"}
        string = LocatedNode(node={"type": "string"})
        made.extend(
            OperationParameter(
                name=name, location="path", schema=string, required=True, style="simple"
            )
            for name in dict.fromkeys(named)
            if name not in described
        )
        return tuple(made)


def _path_problem(path: str) -> str:
    if not path.startswith("/"):
        return "Its path does not begin with '/', so it has no address."
    return DOT_SEGMENTS_PROBLEM if has_dot_segments(path) else ""


def _is_ignored(parameter: OperationParameter, named_in_path: Sequence[str]) -> bool:
    if parameter.location == "header":
        return parameter.name.lower() in _NOT_PARAMETERS
    return parameter.location == "path" and parameter.name not in named_in_path
