"""Calls one operation; arguments, route and schemas are outgoing on first use."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from pydantic_core import to_json

from pegboard.core.context import ToolContext
from pegboard.core.credential import Secret
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
)
from pegboard.sources.openapi.call.error_responses import is_unauthorized, missing_scopes_of
from pegboard.sources.openapi.call.paging import (
    PAGES,
    JoinedPages,
    PageSequence,
    describe_next,
    find_links,
    find_next,
)
from pegboard.sources.openapi.call.request_builder import OutgoingRequest, Route, build_request
from pegboard.sources.openapi.call.responses import is_json, to_result, with_note
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
        plan = plan_arguments(self._chosen.operation, self._schemas(sending=True), self._settings)
        return _with_pages(plan, self.paging.max_pages)

    @cached_property
    def paging(self) -> PageSequence:
        """How pages follow each other."""
        operation, given = self._chosen.operation, self._chosen.override.paging
        if operation.method != "get":
            return PageSequence()
        responses = [operation.responses.at(status) for status in operation.responses.fields]
        found = find_links(self._resolve(responses), operation.id)
        return (
            PageSequence(links=found)
            if given is None
            else PageSequence(links=found, **given.model_dump())
        )

    @cached_property
    def documented_plan(self) -> ArgumentPlan:
        """The arguments as the document has them, without the operator's changes."""
        settings, given = self._settings, bool(self._taken - _FIXED)
        paged = self.paging.max_pages > 1
        if not (given or paged or settings.hidden or settings.defaults or settings.content_type):
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
        operation = self._chosen.operation
        route = self.route
        if self._headers.varies:
            route = replace(route, headers=self._headers.for_call(ctx))
        credential = self._grant.name
        if self._grant.takes_caller:
            response, route, credential = await self._send_for_caller(route, arguments, ctx)
        else:
            outgoing = build_request(route, self.plan, arguments)
            response = await self._send(operation.method, outgoing, credential)
        if operation.method == "get":
            return await self._read_pages(route, arguments, response, credential)
        page = find_stored_page(response, method=operation.method, path=operation.path)
        if page is not None:
            response = await self._read_whole(page, response, route, credential)
        return self._to_result(response)

    def _to_result(self, response: HttpResponse) -> ToolResult:
        return to_result(
            response,
            method=self._chosen.operation.method,
            action=self._chosen.action,
            projection=self._chosen.override.projection,
        )

    async def _read_pages(
        self,
        route: Route,
        arguments: Mapping[str, Any],
        response: HttpResponse,
        credential: str,
    ) -> ToolResult:
        """Return the first page, or as many as the call asks for as one list.

        A later page that cannot be read ends the list; the note says how to go on.
        """
        values = {**self.plan.values, **arguments}
        pages = JoinedPages(self.paging.items)
        following = self._find_next(response, values)
        wanted, size, note = arguments.get(PAGES) or 1, len(response.content), ""
        if wanted > 1 and following and pages.add(response):
            read = 1
            while following and read < wanted and size < self._config.max_answer_bytes:
                try:
                    asked = build_request(route, self.plan, {**values, **following})
                    page = await self._send("get", asked, credential)
                except PegboardError as error:
                    note = f"[Page {read + 1} could not be read: {error}]"
                    break
                if not pages.add(page):
                    break
                read, size = read + 1, size + len(page.content)
                values |= following
                following = self._find_next(page, values)
            content = await asyncio.to_thread(lambda: to_json(pages.build()))
            response = replace(response, content=content)
        note = f"{note}\n{describe_next(following)}".strip()
        return with_note(self._to_result(response), note)

    def _find_next(self, response: HttpResponse, given: Mapping[str, Any]) -> dict[str, Any] | None:
        names = {
            argument.parameter.name: argument.name
            for argument in self.plan.arguments
            if argument.parameter.location == "query" and argument.name not in self._settings.hidden
        }
        found = find_next(response, self.paging, names, given)
        return None if found is None else self._typed(found)

    def _typed(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return arguments from a URL as numbers where their schema asks for these."""
        properties = self.plan.schema["properties"]
        return {
            name: int(value)
            if isinstance(value, str)
            and value.isdecimal()
            and properties.get(name, {}).get("type") == "integer"
            else value
            for name, value in found.items()
        }

    def _resolve(self, responses: Sequence[LocatedNode]) -> list[LocatedNode]:
        found: list[LocatedNode] = []
        for response in responses:
            try:
                found.append(self._api.reader.references.resolve(response))
            except BadReference:
                continue
        return found

    async def _send_for_caller(
        self, route: Route, arguments: Mapping[str, Any], ctx: ToolContext[Any]
    ) -> tuple[HttpResponse, Route, str]:
        """Send a request with the credential of the caller, once more where its token is refused.

        Returns:
            The response, the route with the credential that was accepted, and its name.

        Raises:
            CredentialMissing: The call has none, the API accepts no token of it any more, or the
                token lacks scopes that the caller can consent to.
        """
        use = ctx.credential
        if use is None:
            raise CredentialMissing(ctx.tool, "this call has no credential of its caller")
        secret, label = await use.reveal(), use.about.label

        async def send(secret: Secret) -> tuple[HttpResponse, Route, str]:
            filled = replace(route, credential=self._grant.fill(secret))
            outgoing = build_request(filled, self.plan, arguments)
            method = self._chosen.operation.method
            try:
                return await self._send(method, outgoing, label), filled, label
            except PegboardError as error:
                if scopes := missing_scopes_of(error):
                    await use.extend(scopes)
                raise

        try:
            return await send(secret)
        except PegboardError as error:
            renewed = await use.renew(secret) if is_unauthorized(error) else None
            if renewed is None:
                raise
        try:
            return await send(renewed)
        except PegboardError as error:
            if is_unauthorized(error):
                await use.give_up()
            raise

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

    def _schemas(self, *, sending: bool) -> SchemaTranslator:
        return self._api.request_schemas if sending else self._api.response_schemas


def _with_pages(plan: ArgumentPlan, max_pages: int) -> ArgumentPlan:
    """Return the plan with an argument for the number of pages, if a call may read several."""
    properties = plan.schema["properties"]
    if max_pages == 1 or PAGES in properties:
        return plan
    pages = {
        "type": "integer",
        "minimum": 1,
        "maximum": max_pages,
        "description": "Pages to read and return as one list; 1 by default",
    }
    return replace(plan, schema={**plan.schema, "properties": {**properties, PAGES: pages}})
