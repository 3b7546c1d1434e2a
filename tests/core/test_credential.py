"""A credential names itself for records, and shows no value."""

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


def test_a_secret_prints_no_value_and_sends_its_token_first() -> None:
    secret = Secret(value="v-1", username="ada", access_token="a-1", refresh_token="r-1")

    assert repr(secret) == "Secret(username='ada')"
    assert (secret.sent, Secret(value="v-1").sent) == ("a-1", "v-1")
