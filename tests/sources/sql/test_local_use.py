"""A database uses the server's machine as a file, a socket, or an address that is not public."""

import pytest
from pydantic import SecretStr

from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.local_use import find_local_use


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("postgresql://db.example.com/shop", False),
        ("postgresql://db.example.com:5433/shop?sslmode=require", False),
        ("postgresql://8.8.8.8/shop", False),
        ("sqlite:////data/shop.db", True),
        ("postgresql:///shop", True),
        ("snowflake://db.example.com/shop", True),
        ("postgresql://localhost/shop", True),
        ("postgresql://x.localhost/shop", True),
        ("postgresql://127.0.0.1/shop", True),
        ("postgresql://10.0.0.8/shop", True),
        ("postgresql://[::1]/shop", True),
        ("postgresql://a.example.com,127.0.0.1/shop", True),
        ("postgresql://%2Frun%2Fpostgresql/shop", True),
        ("postgresql://db.example.com/shop?host=/run/postgresql", True),
        ("postgresql://db.example.com/shop?hostaddr=127.0.0.1", True),
        ("postgresql://db.example.com/shop?sslkey=/etc/key", True),
        ("postgresql://db.example.com/shop?service=x", True),
    ],
)
def test_what_is_no_public_host_is_of_this_machine(url: str, is_local: bool) -> None:
    assert bool(find_local_use(SqlConfig(url=SecretStr(url)))) is is_local
