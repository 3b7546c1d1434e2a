"""The extra is named when it is missing, and loaded by nobody before it is needed."""

import subprocess
import sys

import pytest

from pegboard.errors import ConfigError
from pegboard.servers.mcp import extra
from pegboard.servers.mcp.extra import require_mcp_extra


def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_name: str) -> None:
        return None

    monkeypatch.setattr(extra, "find_spec", nowhere)

    with pytest.raises(ConfigError) as caught:
        require_mcp_extra()

    assert str(caught.value) == ("Serving MCP needs the mcp package: pip install 'pegboard[mcp]'")


def test_the_door_loads_the_sdk_only_when_somebody_comes_in() -> None:
    code = "import sys, pegboard.servers.mcp; print([m for m in sys.modules if m == 'mcp'])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
