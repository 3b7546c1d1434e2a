from typing import get_args

import pytest
from pydantic import ValidationError

from pegboard.runtime.board import ToolEntry
from pegboard.runtime.entry_sources import RUNNERS
from pegboard.servers.http.registration import Registration


def test_a_registration_takes_every_type_and_every_key_of_an_entry() -> None:
    assert set(get_args(Registration.model_fields["type"].annotation)) == set(RUNNERS)
    assert Registration.model_fields.keys() == ToolEntry.model_fields.keys()


def test_what_is_kept_is_what_was_given() -> None:
    given = {"tool_id": "x_v1", "type": "PythonFunction", "import": "a:b"}

    assert Registration.model_validate(given).definition() == given


@pytest.mark.parametrize(
    "change", [{"retry_policy": {"backoff_ms": True}}, {"timeout_ms": "5"}, {"tool_id": "1x"}]
)
def test_json_s_types_are_meant(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Registration.model_validate({"tool_id": "x_v1", "type": "RestAPI", **change})
