"""The first fault of a configuration, with its place and without the value."""

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from pegboard.runtime.config_fault import describe_fault


class Config(BaseModel):
    """A configuration."""

    port: int = 0
    name: str = ""

    @field_validator("name")
    @classmethod
    def _check(cls, name: str) -> str:
        if name == "planted":
            raise ValueError("write another name")
        return name


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "planted"}, "name: write another name"),
        ({"port": "planted"}, "port: should be a whole number"),
    ],
)
def test_a_fault_names_its_place_and_not_the_value(given: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Config.model_validate(given)
    described = describe_fault(caught.value)
    assert described.startswith(said)
    assert "planted" not in described
