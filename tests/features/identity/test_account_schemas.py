"""Requests about the caller's own account: both passwords, or none."""

import pytest
from pydantic import ValidationError

from pegboard.features.identity.account_schemas import ChangeAccount


@pytest.mark.parametrize("field", ["current_password", "new_password"])
def test_one_password_alone_is_refused(field: str) -> None:
    with pytest.raises(ValidationError, match="belong together"):
        ChangeAccount.model_validate({field: "a password of today"})


def test_a_change_shows_no_password() -> None:
    both = {"current_password": "hunter2hunter2", "new_password": "hunter2hunter2"}

    assert "hunter2" not in repr(ChangeAccount.model_validate(both))
