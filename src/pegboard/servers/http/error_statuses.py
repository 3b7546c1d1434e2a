"""Which HTTP status stands for which error: the one table.

A tool that says no is a 502: the request was fine, and what stands behind the door answered with a
failure. A call that needs an approval is a 409 and not a 202, because nothing has been accepted:
the same request may pass once the approval is there.
"""

from collections.abc import Mapping
from types import MappingProxyType

from pegboard import errors

STATUSES: Mapping[type[errors.PegboardError], int] = MappingProxyType(
    {
        errors.PegboardError: 500,
        errors.ConfigError: 500,
        errors.CallerError: 400,
        errors.ToolSignatureError: 500,
        errors.ToolArgumentError: 422,
        errors.ToolNotFound: 404,
        errors.DuplicateTool: 409,
        errors.SyncUse: 500,
        errors.AccessDenied: 403,
        errors.ApprovalRequired: 409,
        errors.ApprovalExpired: 410,
        errors.ApprovalDecided: 409,
        errors.AlreadyAnswered: 409,
        errors.ApprovalNotFound: 404,
        errors.IdempotencyConflict: 409,
        errors.HandleNotFound: 404,
        errors.DependencyCycle: 409,
        errors.CannotPlan: 404,
        errors.GraphInvalid: 422,
        errors.RunNotFound: 404,
        errors.PlanNotFound: 404,
        errors.DependencyNotFound: 404,
        errors.VersionNotFound: 404,
        errors.EntryNotFound: 404,
        errors.DefinitionNotHeld: 404,
        errors.DefinitionChanged: 409,
        errors.SwitchNotFound: 404,
        errors.InvalidRequest: 400,
        errors.ToolFailed: 502,
        errors.NobodyToAsk: 502,
        errors.ToolOutputError: 502,
        errors.Unavailable: 503,
        errors.ToolTimeout: 504,
        errors.RateLimited: 429,
        errors.BreakerOpen: 503,
        errors.Overloaded: 503,
        errors.StoreUnavailable: 503,
        errors.AuditUnavailable: 503,
        errors.HostUnavailable: 503,
        errors.IdempotencyInProgress: 409,
        errors.SourceUnavailable: 503,
        errors.MCPConnectionError: 503,
    }
)

CODES: Mapping[int, str] = MappingProxyType(
    {
        400: errors.InvalidRequest.code,
        401: "unauthenticated",
        403: errors.AccessDenied.code,
        404: "not_found",
        405: "method_not_allowed",
        408: "request_timeout",
        413: "request_too_large",
        415: "media_type_unsupported",
        421: "host_not_allowed",
        422: errors.InvalidRequest.code,
        500: "internal",
    }
)
"""Codes of what goes wrong before a tool is concerned."""


def http_status(error: errors.PegboardError) -> int:
    """The status of an error; a class of somebody else's has that of its nearest parent."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
