import pytest
from pydantic import TypeAdapter, ValidationError
from tests.features.identity.made import PASSWORD

from pegboard.access.roles import ROLES
from pegboard.core.ports.accounts.identity_store import OneTimeLink
from pegboard.features.identity.accounts import NewLink
from pegboard.features.identity.rules import check_handle
from pegboard.features.identity.schemas import Join, Role, link_to_dict


def test_the_roles_of_requests_are_those_of_the_rules() -> None:
    read = TypeAdapter[str](Role).validate_python

    assert tuple(map(read, ROLES)) == ROLES
    with pytest.raises(ValidationError):
        read("acme/editor")


def test_a_request_never_shows_its_secrets() -> None:
    wanted = Join.model_validate(
        {"link": "l" * 40, "handle": check_handle("ada"), "password": PASSWORD}
    )

    assert PASSWORD not in repr(wanted)
    assert "l" * 40 not in repr(wanted)


def test_the_token_of_a_link_stands_after_the_hash_below_the_public_address() -> None:
    link = OneTimeLink(
        digest="d", purpose="first", created_at=0.0, created_by="/local", expires_at=9.0
    )
    new = NewLink(token="secret", link=link)

    assert link_to_dict(new, public_url="https://board.example/pegboard/") == {
        "path": "/ui/join#link=secret",
        "url": "https://board.example/pegboard/ui/join#link=secret",
        "purpose": "first",
        "expires_at": 9.0,
    }
    assert link_to_dict(new, public_url="")["url"] == ""
