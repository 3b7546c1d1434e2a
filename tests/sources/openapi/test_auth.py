from typing import Any

import pytest
from pydantic import ValidationError

from pegboard.sources.openapi.auth import ApiKeyCredential, header_problem

KEY: dict[str, Any] = {"kind": "api_key", "key": "secret-1"}


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "TE", "Expect"])
def test_a_key_is_refused_in_a_header_that_the_client_sets(name: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ApiKeyCredential.model_validate({**KEY, "in": "header", "name": name})

    assert f"name: '{name}': the client sets this header itself" in str(caught.value)
    assert "such as X-API-Key" in str(caught.value)
    assert "secret-1" not in str(caught.value)


def test_a_key_is_refused_in_a_header_that_cannot_be() -> None:
    with pytest.raises(ValidationError, match="'X Key': no header can have this name"):
        ApiKeyCredential.model_validate({**KEY, "in": "header", "name": "X Key"})


@pytest.mark.parametrize("location", ["query", "cookie", None])
def test_the_same_name_is_good_elsewhere(location: str | None) -> None:
    assert ApiKeyCredential.model_validate({**KEY, "in": location, "name": "host"}).name == "host"


def test_a_header_may_be_left_to_the_document() -> None:
    assert ApiKeyCredential.model_validate({**KEY, "in": "header"}).name == ""


@pytest.mark.parametrize("name", ["X-API-Key", "authorization", "cookie", "x~key"])
def test_other_headers_can_be_sent(name: str) -> None:
    assert header_problem(name) == ""
