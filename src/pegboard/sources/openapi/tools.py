"""Builds a tool for each operation."""

from collections.abc import Sequence

from pegboard.core.text.truncate import truncate
from pegboard.core.tool import Effect, Retry, Status, Tool, ToolSpec
from pegboard.core.wire_names import wire_name
from pegboard.sources.openapi.api import Api, base_url_of, title_of
from pegboard.sources.openapi.call.credentials import ApiCredentials, CredentialGrant
from pegboard.sources.openapi.client import ApiClient
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.document.server_urls import BadServerUrl, origin_of
from pegboard.sources.openapi.operation_runner import OperationRunner
from pegboard.sources.openapi.operation_selection import SelectedOperation, readable_names
from pegboard.sources.openapi.pinned_definition import (
    describe_route,
    fields_not_published,
    is_manual,
)
from pegboard.tools import SchemaTool

_READS = frozenset({"get", "head", "options", "trace"})
_IDEMPOTENT = frozenset({"put", "delete"})
_SLACK = 5.0
"""Seconds beyond the request's own timeout, so that its message reaches the caller."""
_MAX_DESCRIPTION = 2_000
_MAX_TAGS = 8


class ApiTools:
    """Builds the tools of one source."""

    def __init__(self, source: str, api: Api, config: OpenApiConfig, client: ApiClient) -> None:
        self._source = source
        self._api = api
        self._config = config
        self._client = client
        self._credentials = ApiCredentials(source, config, api.schemes)

    def build(self, chosen: Sequence[SelectedOperation]) -> Sequence[Tool]:
        """Return a tool for each operation, in the order of the document."""
        return [self._tool(one) for one in chosen]

    def _tool(self, chosen: SelectedOperation) -> Tool:
        operation, override = chosen.operation, chosen.override
        grant = self._credentials.grant(operation.security)
        base, problem = self._base(chosen, grant)
        runner = OperationRunner(
            chosen,
            self._api,
            self._client,
            config=self._config,
            credentials=self._credentials,
            grant=grant,
            base=base,
        )
        effect = override.effect or (Effect.READ if operation.method in _READS else Effect.WRITE)
        destructive, idempotent = override.destructive, override.idempotent
        if destructive is None and operation.method == "delete":
            destructive = True
        if idempotent is None and (effect is Effect.READ or operation.method in _IDEMPOTENT):
            idempotent = True
        retries = self._config.retries if idempotent else 0
        timeout = override.timeout or self._config.timeout
        spec = ToolSpec(
            name=wire_name(self._source, chosen.action),
            action=chosen.action,
            title=override.title or truncate(operation.summary.strip(), 200),
            description=override.description or self._description(chosen),
            input_schema=lambda: runner.plan.schema,
            output_schema=runner.output_schema if self._config.promise_outputs else None,
            category=override.category or "connector",
            effect=effect,
            destructive=destructive,
            idempotent=idempotent,
            tags=override.tags or ("rest", *operation.tags[:_MAX_TAGS]),
            capabilities=override.capabilities,
            status=Status.DEPRECATED if operation.deprecated else Status.ACTIVE,
            timeout=timeout * (override.paging.max_pages if override.paging else 1) + _SLACK,
            retry=Retry(max_retries=retries) if retries else None,
            source=self._source,
            handler="openapi",
            credential=grant.name,
            caller_credential=grant.takes_caller,
            unavailable=operation.problem or problem or grant.problem or runner.problem(),
        )
        return SchemaTool(
            spec=spec,
            run=runner.run,
            upstream=self._upstream(chosen, spec, runner),
            overridden=override.model_fields_set | fields_not_published(override, self._config),
        )

    def _upstream(
        self, chosen: SelectedOperation, spec: ToolSpec, runner: OperationRunner
    ) -> ToolSpec | None:
        """Return the spec without the operator's changes; None if the operator wrote it all."""
        operation = chosen.operation
        if is_manual(operation, self._config):
            return None
        reads = operation.method in _READS
        return spec.replace(
            name=wire_name(self._source, readable_names((chosen.id,))[chosen.id]),
            action=chosen.id,
            title=truncate(operation.summary.strip(), 200),
            description=self._description(chosen),
            input_schema=lambda: runner.documented_plan.schema,
            output_schema=runner.upstream_output_schema,
            category="",
            tags=("rest", *operation.tags[:_MAX_TAGS]),
            capabilities=(),
            effect=Effect.READ if reads else Effect.WRITE,
            destructive=True if operation.method == "delete" else None,
            idempotent=True if reads or operation.method in _IDEMPOTENT else None,
            timeout=None,
            retry=None,
            credential="",
            caller_credential=False,
            handler=describe_route(self._api, operation),
        )

    def _base(self, chosen: SelectedOperation, grant: CredentialGrant) -> tuple[str, str]:
        """Return the base URL of an operation, or the reason why there is none."""
        try:
            base = base_url_of(self._api, chosen.operation, self._config)
        except BadServerUrl as error:
            return "", str(error)
        origin = origin_of(base)
        if (
            grant.parts or self._credentials.headers.names
        ) and origin not in self._api.trusted_origins:
            return base, (
                f"It goes to {origin}, which receives no credentials unless you allow it: set "
                f"base_url, or credential_origins: [{origin}]."
            )
        return base, ""

    def _description(self, chosen: SelectedOperation) -> str:
        operation = chosen.operation
        summary, more = operation.summary.strip(), operation.description.strip()
        parts = [summary if summary.endswith((".", "!", "?")) or not summary else f"{summary}."]
        if more and more.rstrip(".") != summary.rstrip("."):
            parts.append(more)
        if not any(parts):
            title = title_of(self._api.reader.root) or self._source
            parts = [f"{operation.place} of {title}."]
        if operation.deprecated:
            parts.append("Deprecated.")
        return truncate("\n\n".join(part for part in parts if part), _MAX_DESCRIPTION)
