"""Signing in for a few requests: an address without a server is an error with the address."""

import pytest

from pegboard.cli.client.sign_in import sign_in
from pegboard.errors import Unavailable


async def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(Unavailable, match=r"http://127\.0\.0\.1:9/v1/? cannot be reached"):
        async with sign_in("http://127.0.0.1:9", "ada", "correct horse"):
            pass
