from pegboard.core.ports.accounts.identity_store import NewIdentity, Organisation, User


def test_an_account_claims_its_handles_and_its_address() -> None:
    user = User(id="local", handle="ada", name="Ada", email="ada@acme.example", created_at=0.0)
    acme = Organisation(handle="acme", title="Acme", created_at=0.0, created_by="local")

    assert NewIdentity(at=0.0, user=user, organisation=acme).claims == (
        "ada",
        "ada@acme.example",
        "acme",
    )
    assert NewIdentity(at=0.0).claims == ()
