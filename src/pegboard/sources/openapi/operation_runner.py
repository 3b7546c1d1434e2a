"""Calls one operation; arguments, route and schemas are outgoing on first use."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.ports.http import SET_BY_CLIENT, HttpResponse
from pegboard.core.result import ToolResult
from pegboard.core.tool import JsonSchema
from pegboard.errors import CredentialMissing, PegboardError
from pegboard.schemas.validator import compile_schema, output_problem
from pegboard.sources.openapi.api import Api
from pegboard.sources.openapi.call.arguments import (
    ArgumentPlan,
    ArgumentSettings,
    plan_arguments,
    unknown_arguments,
)
from pegboard.sources.openapi.call.credentials import (
    ApiCredentials,
    CredentialGrant,
    CredentialPart,
)
from pegboard.sources.openapi.call.request_builder import OutgoingRequest, Route, build_request
from pegboard.sources.openapi.call.responses import is_json, next_page, to_result, with_note
from pegboard.sources.openapi.call.stored_results import StoredPage, complete, find_stored_page
from pegboard.sources.openapi.client import ApiClient, check_hidden_arguments
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.references import BadReference
from pegboard.sources.openapi.operation_selection import SelectedOperation
from pegboard.sources.openapi.schema.translator import SchemaTranslator, accepts_anything

_MAX_KINDS = 8
_NO_ARGUMENTS = ArgumentPlan(arguments=(), body=None, schema={"properties": {}})
_ANY_ANSWER = "application/json, */*;q=0.5"
# headers that the HTTP client sets itself, and the one of cookies
_FIXED = frozenset(("header", name) for name in (*SET_BY_CLIENT, "cookie"))


class OperationRunner:
    """Calls one operation.

    Args:
        chosen: The operation with its overrides.
        api: The API of the operation.
        client: Sends the requests.
        config: The configuration of the source.
        credentials: The credentials of the source, with the headers of every request.
        grant: The credentials of this operation.
        base: The base URL.
    """

    def __init__(
        self,
        chosen: SelectedOperation,
        api: Api,
        client: ApiClient,
        *,
        config: OpenApiConfig,
        credentials: ApiCredentials,
        grant: CredentialGrant,
        base: str,
    ) -> None:
        self._chosen = chosen
        self._api = api
        self._client = client
        self._config = config
        self._grant = grant
        self._headers = credentials.headers
        override = chosen.override
        taken = set(_FIXED)
        taken |= {("header", name.lower()) for name in credentials.headers.names}
        taken |= {(part.location, part.name.lower()) for part in grant.parts}
        self._taken = taken
        self._settings = ArgumentSettings(
            hidden=override.hidden,
            defaults=override.defaults,
            content_type=override.content_type,
            taken=taken,
        )
        self._route_of = lambda: Route(
            method=chosen.operation.method,
            base=base,
            path=chosen.operation.path,
            headers=credentials.headers.fixed,
            credential=grant.parts,
            accept=self._accept_header(),
        )

    @cached_property
    def plan(self) -> ArgumentPlan:
        """The arguments."""
        return plan_arguments(self._chosen.operation, self._schemas(sending=True), self._settings)

    @cached_property
    def documented_plan(self) -> ArgumentPlan:
        """The arguments as the document has them, without the operator's changes."""
        settings, given = self._settings, bool(self._taken - _FIXED)
        if not (given or settings.hidden or settings.defaults or settings.content_type):
            return self.plan
        return plan_arguments(
            self._chosen.operation, self._schemas(sending=True), ArgumentSettings(taken=_FIXED)
        )

    @cached_property
    def route(self) -> Route:
        """The destination of the requests."""
        return self._route_of()

    def problem(self) -> str:
        """Return which configuration does not fit this operation; empty if all fits."""
        settings, chosen = self._settings, self._chosen
        if not chosen.is_exact or not (settings.hidden or settings.defaults):
            return ""
        unknown = unknown_arguments(self.plan, settings)
        if unknown:
            return f"overrides: it has no argument {', '.join(unknown)}."
        open_plan = plan_arguments(
            chosen.operation,
            self._schemas(sending=True),
            ArgumentSettings(taken=settings.taken, content_type=settings.content_type),
        )
        schema = {key: value for key, value in open_plan.schema.items() if key != "required"}
        try:
            fault = output_problem(compile_schema(chosen.action, schema), dict(self.plan.values))
        except PegboardError as error:
            return str(error)
        return f"overrides: {fault}." if fault else ""

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> ToolResult:
        """Send the request and return its result."""
        check_hidden_arguments(arguments, self._settings.hidden)
        operation, override = self._chosen.operation, self._chosen.override
        route = self.route
        if self._headers.varies:
            route = replace(route, headers=self._headers.for_call(ctx))
        credential = self._grant.name
        if self._grant.takes_caller:
            parts, credential = await self._ask_caller(ctx)
            route = replace(route, credential=parts)
        outgoing = build_request(route, self.plan, arguments)
        response = await self._send(operation.method, outgoing, credential)
        page = find_stored_page(response, method=operation.method, path=operation.path)
        if page is not None:
            response = await self._read_whole(page, response, route, credential)
        result = to_result(
            response,
            method=operation.method,
            action=self._chosen.action,
            projection=override.projection,
        )
        return with_note(result, self._next_page(response))

    async def _ask_caller(self, ctx: ToolContext[Any]) -> tuple[tuple[CredentialPart, ...], str]:
        """The parts with the credential of the caller, and its name.

        Raises:
            CredentialMissing: The call has none.
        """
        if ctx.credential is None:
            raise CredentialMissing(ctx.tool, "this call has no credential of its caller")
        return self._grant.fill(await ctx.credential.reveal()), ctx.credential.about.label

    async def _send(self, method: str, outgoing: OutgoingRequest, credential: str) -> HttpResponse:
        seconds = self._chosen.override.timeout
        return await self._client.send(method, outgoing, credential=credential, seconds=seconds)

    async def _read_whole(
        self, page: StoredPage, response: HttpResponse, route: Route, credential: str
    ) -> HttpResponse:
        asked = replace(route, method="get", path=page.path, accept="application/json")
        try:
            whole = await self._send("get", build_request(asked, _NO_ARGUMENTS, {}), credential)
        except PegboardError:  # it is gone, or cannot be read: the first page says where it was
            return response
        return await asyncio.to_thread(complete, page, response, whole)

    def output_schema(self) -> JsonSchema | None:
        """Return the schema of the JSON response; None if there is none or more than one."""
        return None if self._chosen.override.projection else self.upstream_output_schema()

    def upstream_output_schema(self) -> JsonSchema | None:
        """Return the schema of the JSON response without the operator's changes."""
        if self._chosen.operation.method == "head":
            return None
        places = [
            place for kind, place in self._response_schemas() if is_json(kind.strip().lower())
        ]
        unique = {id(place.node): place for place in places if place.node is not None}
        if len(unique) != 1:
            return None
        schemas = self._schemas(sending=False)
        schema = schemas.make_standalone(schemas.translate(next(iter(unique.values()))))
        return None if accepts_anything(schema) else schema

    def _response_schemas(self) -> list[tuple[str, LocatedNode]]:
        """Return content types and schemas of the successful responses."""
        operation = self._chosen.operation
        responses, produces = operation.responses, operation.produces
        found: list[tuple[str, LocatedNode]] = []
        for status in responses.fields:
            if status.upper() == "2XX" or (status[:1] == "2" and status.isdigit()):
                try:
                    found.extend(self._api.reader.response(responses.at(status), produces))
                except BadReference:
                    continue
        return found

    def _accept_header(self) -> str:
        kinds = dict.fromkeys(
            kind.partition(";")[0].strip() for kind, _ in self._response_schemas()
        )
        fit = [kind for kind in kinds if kind.isascii() and kind.isprintable() and "," not in kind]
        fit.sort(key=lambda kind: not is_json(kind.lower()))
        named = [kind for kind in fit if kind != "*/*"][:_MAX_KINDS]
        return ", ".join(named) or _ANY_ANSWER

    def _next_page(self, response: HttpResponse) -> str:
        if "link" not in response.headers:
            return ""
        names = {
            argument.parameter.name: argument.name
            for argument in self.plan.arguments
            if argument.parameter.location == "query" and argument.name not in self._settings.hidden
        }
        return next_page(response, names)

    def _schemas(self, *, sending: bool) -> SchemaTranslator:
        return self._api.request_schemas if sending else self._api.response_schemas
