"""Which APIs and databases a request binds."""

import pytest

from pegboard.assembly.tool_request import ToolRequest
from pegboard.core.principal import LOCAL


@pytest.mark.parametrize(
    ("agent", "connector_ids", "source", "binds"),
    [
        ("", (), "crm", True),
        ("a", (), "crm", False),
        ("a", ("crm",), "crm", True),
        ("a", ("crm",), "crm2", False),
        ("a", ("c*",), "crm2", True),
    ],
)
def test_what_a_request_binds(
    agent: str, connector_ids: tuple[str, ...], source: str, *, binds: bool
) -> None:
    request = ToolRequest(principal=LOCAL, agent=agent, connector_ids=connector_ids)

    assert request.binds(source) is binds
