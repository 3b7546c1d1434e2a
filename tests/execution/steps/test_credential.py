"""The credential of a call: found, named, masked, or asked for once for each caller and run."""

from collections.abc import Sequence

import pytest
from msgspec import structs
from tests.execution.made import ADA, BOB, Following, Heard, a_call, a_kit, a_spec, a_target

from pegboard.core.context import ToolContext
from pegboard.core.credential import Credential, Secret
from pegboard.core.ports.accounts.credential_store import SealedSecret, StoredCredential
from pegboard.core.ports.accounts.credentials import CallerCredentials
from pegboard.core.ports.approval_store import ApprovalQuery
from pegboard.core.ports.conversation_store import Conversation
from pegboard.core.principal import Principal
from pegboard.core.result import ToolResult
from pegboard.errors import AccessDenied, CredentialMissing, ToolFailed
from pegboard.execution.call_state import CallState
from pegboard.execution.credential_use import CredentialUse
from pegboard.execution.order import compile_path
from pegboard.execution.steps.credential import credential

SPEC = a_spec(source="github", caller_credential=True, cacheable=True)
STORED = StoredCredential(
    about=Credential(
        id="c1", owner="ada", source="github", name="work", kind="basic", created_at=1.0
    ),
    sealed=SealedSecret(key_id="k", data_key=b"", value=b""),
)


class Vault:
    """Has a credential for some callers."""

    def __init__(self, *owners: Principal) -> None:
        self.owners = owners

    async def find(
        self, source: str, tool: str, *, principal: Principal, account: str = ""
    ) -> StoredCredential:
        if principal not in self.owners:
            link = "https://here.example"
            raise CredentialMissing(tool, f"none for {source}", link=link, account=account)
        return structs.replace(STORED, about=structs.replace(STORED.about, name=account or "work"))

    async def reveal(self, stored: StoredCredential, *, tool: str) -> Secret:
        assert (stored.about.id, tool) == ("c1", SPEC.name)
        return Secret(username="ada", value="hush-hush")

    async def renew(self, stored: StoredCredential, refused: Secret, *, tool: str) -> Secret | None:
        assert (stored, tool) == (STORED, SPEC.name)
        return Secret(username="ada", value=f"new-{refused.value}")

    async def extend(
        self, stored: StoredCredential, scopes: Sequence[str], *, tool: str, principal: Principal
    ) -> None:
        raise CredentialMissing(tool, f"'{stored.about.source}' asks for more: {scopes}")

    async def end(self, stored: StoredCredential, *, tool: str, principal: Principal) -> None:
        if principal in self.owners:
            raise CredentialMissing(tool, f"'{stored.about.source}' must be connected again")


VAULT: CallerCredentials = Vault(ADA)


async def test_a_call_with_a_credential_goes_on_with_it() -> None:
    call, following = a_call(), Following()

    await credential(a_target(SPEC), a_kit(credentials=VAULT), following)(call)

    assert following.calls == 1
    assert call.credential is not None
    assert call.credential.about.label == "github/work of ada"


@pytest.mark.parametrize(
    ("ctx", "account"),
    [
        (ToolContext[None](principal=ADA), "work"),
        (ToolContext[None](principal=ADA, account="home"), "home"),
        (ToolContext[None](principal=ADA, run_id="r"), "office"),
        (ToolContext[None](principal=ADA, run_id="sub", root_id="r"), "office"),
        (ToolContext[None](principal=ADA, run_id="r", account="home"), "home"),
        (ToolContext[None](principal=BOB, run_id="r"), "work"),
    ],
    ids=["default", "of the call", "of the conversation", "sub-run", "both", "another person"],
)
async def test_a_call_or_its_conversation_chooses_an_account(
    ctx: ToolContext[None], account: str
) -> None:
    async def conversation_of(run_id: str) -> Conversation | None:
        assert run_id == "r"
        return Conversation(
            id="talk", principal="ada", tenant="acme", accounts={"github": "office"}
        )

    kit = a_kit(credentials=Vault(ADA, BOB), conversation_of=conversation_of)
    call = a_call()
    call.ctx = ctx
    await credential(a_target(SPEC), kit, Following())(call)

    assert call.credential is not None
    assert call.credential.about.name == account


async def test_what_was_revealed_is_masked_in_the_result_and_named_in_the_record() -> None:
    heard = Heard()

    async def run(_arguments: object, ctx: object) -> str:
        use = getattr(ctx, "credential", None)
        assert isinstance(use, CredentialUse)
        return f"it was {(await use.reveal()).value}, as YWRhOmh1c2gtaHVzaA=="

    path = compile_path(a_target(SPEC, run=run), a_kit(heard, credentials=VAULT))
    result = await path(a_call({}))

    assert result.text == "it was [redacted], as [redacted]"
    assert heard.record.credential == "github/work of ada"
    assert "hush-hush" not in repr(heard.events)


async def test_a_renewed_value_is_masked_as_well_and_a_call_may_end_the_connection() -> None:
    use = CredentialUse(STORED, VAULT, tool=SPEC.name, principal=ADA)

    renewed = await use.renew(await use.reveal())
    with pytest.raises(CredentialMissing, match="connected again"):
        await use.give_up()
    await CredentialUse(STORED, VAULT, tool=SPEC.name, principal=BOB).give_up()

    assert renewed is not None
    assert use.mask("hush-hush, new-hush-hush") == "[redacted], [redacted]"


async def test_what_was_revealed_is_masked_in_an_error_and_its_detail() -> None:
    heard = Heard()

    async def run(_arguments: object, ctx: object) -> str:
        use = getattr(ctx, "credential", None)
        assert isinstance(use, CredentialUse)
        secret = await use.reveal()
        raise ToolFailed(f"refused {secret.value}") from ValueError(f"sent {secret.value}")

    path = compile_path(a_target(SPEC, run=run), a_kit(heard, credentials=VAULT))
    result = await path(a_call({}))

    assert result.text.startswith("refused [redacted]")
    assert "sent [redacted]" in heard.record.error_detail
    assert "hush-hush" not in repr(heard.events)


async def refused(call: CallState, kit: object) -> CredentialMissing:
    with pytest.raises(CredentialMissing) as caught:
        await credential(a_target(SPEC), kit, Following())(call)  # type: ignore[arg-type]  # a kit of `a_kit`
    return caught.value


async def test_calls_without_one_leave_one_request_for_each_caller() -> None:
    kit = a_kit(credentials=VAULT)

    errors = [await refused(a_call(principal=BOB), kit) for _ in range(2)]

    page = await kit.approvals.approvals(ApprovalQuery())
    assert [(item.kind, item.source, item.principal) for item in page.approvals] == [
        ("connection", "github", "bob")
    ]
    assert {error.approval_id for error in errors} == {page.approvals[0].id}
    assert (errors[0].reason, errors[0].link) == ("none for github", "https://here.example")


async def test_calls_with_two_accounts_leave_a_request_for_each_of_them() -> None:
    kit = a_kit(credentials=VAULT)
    errors: list[CredentialMissing] = []
    for account in ("", "work", "home", "work"):
        call = a_call(principal=BOB)
        call.ctx = ToolContext(principal=BOB, account=account)
        errors.append(await refused(call, kit))

    page = await kit.approvals.approvals(ApprovalQuery())
    assert sorted(item.account_name for item in page.approvals) == ["", "home", "work"]
    assert errors[1].approval_id == errors[3].approval_id


async def test_a_request_that_was_settled_is_asked_anew_and_a_denied_one_refuses() -> None:
    kit = a_kit(credentials=VAULT)
    first = await refused(a_call(principal=BOB), kit)
    await kit.approvals.decide(first.approval_id, "approved", by="bob")
    second = await refused(a_call(principal=BOB), kit)
    await kit.approvals.decide(second.approval_id, "denied", by="ada")

    with pytest.raises(AccessDenied, match="none for github"):
        await credential(a_target(SPEC), kit, Following())(a_call(principal=BOB))
    assert first.approval_id != second.approval_id


async def test_a_connection_that_ends_during_the_call_leaves_a_request_too() -> None:
    following = Following(CredentialMissing("", "it has ended"))

    with pytest.raises(CredentialMissing, match="it has ended") as caught:
        await credential(a_target(SPEC), a_kit(credentials=VAULT), following)(a_call())

    assert caught.value.approval_id


async def test_without_a_board_the_call_is_refused() -> None:
    error = await refused(a_call(), a_kit())

    assert "no board" in error.reason


async def test_a_cached_result_is_given_to_its_own_credential_alone() -> None:
    results = iter("ab")

    async def run(_arguments: object, _ctx: object) -> ToolResult:
        return ToolResult(content=next(results))

    spec = SPEC.replace(cache_per_principal=False)
    vault = Vault(ADA, BOB)
    path = compile_path(a_target(spec, run=run), a_kit(credentials=vault))
    shared = [(await path(a_call({}, principal=who))).text for who in (ADA, BOB)]

    assert shared == ["a", "a"]
