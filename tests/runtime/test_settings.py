from pathlib import Path

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime.settings import Settings, environ


def test_variables_become_settings_of_their_types() -> None:
    found = Settings.from_environment(
        {"PEGBOARD_PORT": "9000", "PEGBOARD_DATA": "d", "PEGBOARD_TRACES": "true", "HOME": "/x"}
    )

    assert (found.port, found.data, found.traces) == (9000, Path("d"), True)


def test_an_empty_variable_counts_as_not_set() -> None:
    assert Settings.from_environment({"PEGBOARD_TOKEN": ""}).token is None


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        pytest.param(
            {"PEGBOARD_PROT": "1"}, "PEGBOARD_PROT: did you mean PEGBOARD_PORT", id="misspelt"
        ),
        pytest.param({"PEGBOARD_ZZZZZZ": "1"}, "no such setting", id="unknown"),
        pytest.param(
            {"PEGBOARD_PORT": "many"}, "PEGBOARD_PORT: should be a whole number", id="no number"
        ),
        pytest.param(
            {"PEGBOARD_PORT": "70000"},
            "PEGBOARD_PORT: should be less than or equal to 65535",
            id="too large",
        ),
        pytest.param({"PEGBOARD_URL": "x:1"}, "PEGBOARD_URL: write the address", id="no address"),
    ],
)
def test_a_wrong_variable_is_named(variables: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Settings.from_environment(variables)


def test_the_token_is_not_shown() -> None:
    found = Settings.from_environment({"PEGBOARD_TOKEN": "hunter2hunter2"})

    assert "hunter2" not in repr(found)
    assert "hunter2" not in str(found.model_dump())


def test_changes_that_are_none_change_nothing() -> None:
    settings = Settings(port=1)

    assert settings.replace(port=None, host=None) is settings
    assert settings.replace(port=2).port == 2


def test_a_change_that_makes_no_sense_is_named_and_not_quoted() -> None:
    with pytest.raises(ConfigError, match=r"^port: should be less than or equal to 65535$"):
        Settings().replace(port=70_000)
    with pytest.raises(ConfigError) as caught:
        Settings().replace(database="mysql://ada:pw@host/board")

    assert "pw" not in str(caught.value)


def test_a_change_keeps_the_token() -> None:
    settings = Settings.from_environment({"PEGBOARD_TOKEN": "t0ken"}).replace(port=5)

    assert settings.token is not None
    assert settings.token.get_secret_value() == "t0ken"


def test_the_environment_is_the_process_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_HOST", "::1")

    assert environ()["PEGBOARD_HOST"] == "::1"
    assert Settings.from_environment().host == "::1"


def test_a_database_is_a_postgresql_address_and_is_not_shown() -> None:
    settings = Settings.from_environment({"PEGBOARD_DATABASE": "postgresql://ada:pw@host/board"})

    assert settings.database is not None
    assert settings.database.get_secret_value() == "postgresql://ada:pw@host/board"
    assert "pw" not in repr(settings)


def test_another_database_is_refused_with_what_to_write() -> None:
    with pytest.raises(ConfigError, match=r"PEGBOARD_DATABASE: .*write postgresql://user"):
        Settings.from_environment({"PEGBOARD_DATABASE": "mysql://host/board"})


@pytest.mark.parametrize(
    "given",
    ["board.example", "ftp://board.example", "https://a@b", "https://b/?x=1", "https://b/#x"],
)
def test_a_public_address_has_a_scheme_a_host_and_a_path(given: str) -> None:
    with pytest.raises(ConfigError, match=r"PEGBOARD_PUBLIC_URL: write an address as https://"):
        Settings.from_environment({"PEGBOARD_PUBLIC_URL": given})


def test_a_public_address_ends_without_a_slash() -> None:
    settings = Settings.from_environment({"PEGBOARD_PUBLIC_URL": "https://board.example/pegs/"})

    assert settings.public_url == "https://board.example/pegs"


@pytest.mark.parametrize("given", ["proxy.example", "10.0.0.1/8", "0.0.0.0/0", "::/0", "10.0.0"])
def test_a_trusted_proxy_is_an_address_or_a_network_and_not_everybody(given: str) -> None:
    with pytest.raises(ConfigError, match=r"PEGBOARD_TRUSTED_PROXIES: (write|name)"):
        Settings.from_environment({"PEGBOARD_TRUSTED_PROXIES": f"127.0.0.1, {given}"})
