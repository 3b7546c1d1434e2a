import pytest
from pydantic import BaseModel, SecretStr

from pegboard.runtime.secret_values import is_secretive, secret_values


class Config(BaseModel):
    url: SecretStr
    token: SecretStr | None = None
    hosts: tuple[str, ...] = ()


def test_passwords_inside_urls_are_secret_as_written_and_as_meant() -> None:
    config = Config(url=SecretStr("postgresql://me:p%40ss@host:5432/db"))

    assert secret_values([config]) == ("p%40ss", "p@ss")


def test_secret_fields_that_are_no_url_are_secret_whole() -> None:
    config = Config(url=SecretStr("sqlite:///file.db"), token=SecretStr("t0ken"))

    assert secret_values([config]) == ("t0ken",)


def test_urls_are_found_however_deep_they_stand() -> None:
    assert secret_values([{"a": [{"b": "x http://u:deep@h/ y"}]}, ("amqp://u:other@h",)]) == (
        "deep",
        "other",
    )


def test_what_is_no_secret_is_left_alone() -> None:
    assert secret_values([{"region": "prod", "port": 5432, "url": "https://host/path@x"}]) == ()


@pytest.mark.parametrize("name", ["DB_PASSWORD", "API_KEY", "GITHUB_TOKEN", "my_secret", "AUTH"])
def test_a_variable_that_says_so_is_secret(name: str) -> None:
    assert is_secretive(name)


@pytest.mark.parametrize("name", ["REGION", "PORT", "HOME", "DATABASE_URL"])
def test_other_variables_are_not(name: str) -> None:
    assert not is_secretive(name)
