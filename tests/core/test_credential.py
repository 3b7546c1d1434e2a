"""A credential names itself for records, and shows no value."""

from msgspec import structs

from pegboard.core.credential import Credential, Secret


def test_a_label_says_whose_account_acts() -> None:
    known = Credential(
        id="c1", owner="u_1", source="github", name="work", kind="oauth2", created_at=0.0
    )
    confirmed = Credential(
        id="c1",
        owner="u_1",
        source="github",
        name="work",
        kind="oauth2",
        created_at=0.0,
        identity="octocat",
    )

    assert (known.label, confirmed.label) == (
        "github/work of u_1",
        "github/work (octocat) of u_1",
    )


def test_an_account_is_told_from_one_that_takes_its_place() -> None:
    first = Credential(
        id="c1", owner="u_1", source="github", name="work", kind="oauth2", created_at=0.0
    )
    refreshed = structs.replace(first, version=7, used_at=5.0, name="home", is_default=True)
    given = structs.replace(first, given_at=9.0)
    confirmed = structs.replace(first, identity="octocat")
    again = structs.replace(confirmed, given_at=9.0)
    other = structs.replace(again, identity="hubot")

    named = structs.replace(first, identity="Anna Berg", subject="s1")
    namesake = structs.replace(named, subject="s2")
    renamed = structs.replace(named, identity="Anna Holm")

    assert refreshed.account == first.account
    assert named.account == renamed.account
    assert named.account != namesake.account
    assert again.account == confirmed.account
    assert len({item.account for item in (first, given, confirmed, other)}) == 4


def test_a_secret_prints_no_value_and_sends_its_token_first() -> None:
    secret = Secret(value="v-1", username="ada", access_token="a-1", refresh_token="r-1")

    assert repr(secret) == "Secret(username='ada')"
    assert (secret.sent, Secret(value="v-1").sent) == ("a-1", "v-1")
