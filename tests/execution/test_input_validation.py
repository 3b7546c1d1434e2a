from pegboard import ToolRegistry, tool
from pegboard.core.principal import LOCAL
from pegboard.execution import CallEnvironment
from pegboard.execution.input_validation import validate_input


@tool(effect="read")
def double(number: int) -> int:
    """Double it."""
    raise AssertionError


async def test_secrets_of_the_board_are_masked_in_problems() -> None:
    environment = CallEnvironment(redact=lambda text: text.replace("hunter2", "***"))
    made = ToolRegistry([double]).get("double")

    result = await validate_input(made, {"number": "hunter2"}, environment, LOCAL)

    assert "***" in result.problems[0].message
    assert "hunter2" not in result.problems[0].message
