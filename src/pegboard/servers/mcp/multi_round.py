"""Runs the work of a request that may take several rounds of questions and answers."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.elicitation import Elicitor
from pegboard.core.event import digest_of
from pegboard.errors import InvalidRequest
from pegboard.servers.mcp.callers import Caller, Callers, is_modern
from pegboard.servers.mcp.elicitation import SessionElicitor
from pegboard.servers.mcp.progress import ProgressReporter, Request
from pegboard.servers.mcp.suspended_calls import SuspendedCall, SuspendedCalls

KEY = "pegboard/idempotencyKey"
"""Key in a request's `_meta`: the same key and arguments return the first outcome."""

ACCOUNT = "pegboard/account"
"""Key in a request's `_meta`: the name of the caller's credential to call with."""

_MAX_KEY_LENGTH = 255
_MAX_NAME_LENGTH = 100
Work = Callable[[ToolContext[Any]], Awaitable[Any]]


class MultiRoundRequests:
    """Runs work that can notify and ask its client."""

    def __init__(self, callers: Callers, suspended: SuspendedCalls) -> None:
        self._callers = callers
        self._suspended = suspended

    async def run(
        self, work: Work, request: Request, caller: Caller, params: Any, *, name: str
    ) -> Any:
        """Run the work; returns its outcome, or an `InputRequiredResult` with its questions.

        Args:
            work: Started once, however many rounds it takes.
            request: The request.
            caller: Its caller.
            params: Params with `request_state` and `input_responses`.
            name: Name of the tool, prompt or resource.

        Raises:
            MCPError: The request state is unknown, or belongs to another caller or request.
        """
        if not is_modern(request):
            elicitor = SessionElicitor(request, caller.abilities)
            return await self._run_once(work, request, caller, elicitor, name)
        if params.request_state is not None:
            return await self._suspended.resume(
                params.request_state,
                params.input_responses or {},
                owner=_owner(request, caller, params),
                request=request,
            )
        if not caller.abilities.any:
            elicitor = SessionElicitor(request, caller.abilities)
            return await self._run_once(work, request, caller, elicitor, name)
        reporter = self._reporter(request, name)
        owner = _owner(request, caller, params)
        given: dict[str, Any] = dict(params.input_responses or {})
        call = SuspendedCall(owner, caller.abilities, reporter, given)
        context = _context(request, caller, reporter, call)

        async def suspendable() -> Any:
            return await work(context)

        return await self._suspended.start(call, suspendable())

    async def _run_once(
        self, work: Work, request: Request, caller: Caller, elicitor: Elicitor, name: str
    ) -> Any:
        reporter = self._reporter(request, name)
        outcome = await work(_context(request, caller, reporter, elicitor))
        await reporter.flush()
        return outcome

    def _reporter(self, request: Request, name: str) -> ProgressReporter:
        return ProgressReporter(request, tool=name, levels=self._callers.levels(request))


def _context(
    request: Request, caller: Caller, reporter: ProgressReporter, elicitor: Elicitor
) -> ToolContext[Any]:
    return ToolContext(
        principal=caller.principal,
        idempotency_key=_read_meta(request, KEY, most=_MAX_KEY_LENGTH),
        account=_read_meta(request, ACCOUNT, most=_MAX_NAME_LENGTH) or "",
        on_progress=reporter.on_progress,
        on_log=reporter.on_log,
        elicitor=elicitor,
    )


def _read_meta(request: Request, name: str, *, most: int) -> str | None:
    """A text of a request's `_meta`; None where it has none.

    Raises:
        InvalidRequest: It is no text, or too long.
    """
    value: object = dict(request.meta or {}).get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= most:
        raise InvalidRequest(f"_meta['{name}'] is a text of 1 to {most} characters")
    return value


def _owner(request: Request, caller: Caller, params: Any) -> tuple[Hashable, ...]:
    """The caller and the request that may resume a call."""
    asked = params.model_dump(include={"name", "uri", "arguments"}, mode="json")
    return (caller.principal, caller.selection, request.method, digest_of(asked))
