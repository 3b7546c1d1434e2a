"""Credential: a call of a source that takes its caller's acts with that, or does not run.

A call without one ends with `CredentialMissing` and holds nothing, as one without an approval does:
the request that it leaves is settled once the caller has connected an account, and the caller (a
run by itself) makes the call again.
"""

from pegboard.core.ports.accounts.credentials import CallerCredentials
from pegboard.core.result import ToolResult
from pegboard.errors import AccessDenied, CredentialMissing
from pegboard.execution.approval_requests import request_connection
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.credential_use import CredentialUse
from pegboard.execution.environment import CallEnvironment


def credential(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """For tools of sources that take a credential of their caller."""
    spec, credentials = target.spec, environment.credentials
    if not spec.caller_credential:
        return following

    async def find(call: CallState, known: CallerCredentials) -> CredentialUse:
        account = (
            call.ctx.account
            or await find_account(call, spec.source, environment)
            or call.ctx.accounts.get(spec.source, "")
        )
        stored = await known.find(
            spec.source, spec.name, principal=call.ctx.principal, account=account
        )
        return CredentialUse(stored, known, tool=spec.name, principal=call.ctx.principal)

    async def handle(call: CallState) -> ToolResult:
        if credentials is None:
            raise CredentialMissing(spec.name, "there is no board that stores credentials")
        try:
            call.credential = await find(call, credentials)
            return await following(call)
        except CredentialMissing as error:  # missing, or ended while the call was made
            request = await request_connection(call, spec, environment, missing=error)
            if request.state == "denied":
                raise AccessDenied(spec.name, error.reason) from error
            raise CredentialMissing(
                spec.name,
                error.reason,
                link=error.link,
                account=error.account,
                approval_id=request.id,
            ) from error

    return handle


async def find_account(call: CallState, source: str, environment: CallEnvironment) -> str:
    """The name of the account that the conversation of a call has chosen; empty for none."""
    run = call.ctx.root_id or call.ctx.run_id
    conversation = await environment.conversation_of(run) if run else None
    if conversation is None or not conversation.belongs_to(call.ctx.principal):
        return ""
    return conversation.accounts.get(source, "")
