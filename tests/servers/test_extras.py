import subprocess
import sys

import pytest

from pegboard.errors import ConfigError
from pegboard.servers import extras
from pegboard.servers.extras import require_mcp_extra, require_server_extra

MISSING = """
import sys
sys.modules[{name!r}] = None
from pegboard.errors import ConfigError
from pegboard.runtime import Pegboard, Settings
from pegboard.servers.http import create_app, serve
for start in (lambda: serve(Settings(port=0)), lambda: create_app(Pegboard())):
    try:
        start()
    except ConfigError as error:
        print(error)
"""


def test_an_installation_with_the_extra_is_complete() -> None:
    require_server_extra()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fastapi", "uvicorn", "websockets", "prometheus_client"])
def test_a_missing_extra_is_one_line_that_says_what_to_install(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MISSING.format(name=name)],
        capture_output=True,
        text=True,
        check=True,
    )

    line = f"The HTTP server needs {name}: pip install 'pegboard[server]'"
    assert done.stdout.splitlines() == [line, line]


def test_a_missing_mcp_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_name: str) -> None:
        return None

    monkeypatch.setattr(extras, "find_spec", nowhere)

    with pytest.raises(ConfigError) as caught:
        require_mcp_extra()

    assert str(caught.value) == ("Serving MCP needs the mcp package: pip install 'pegboard[mcp]'")


@pytest.mark.slow
def test_the_door_loads_the_sdk_only_when_somebody_comes_in() -> None:
    code = "import sys, pegboard.servers.mcp; print([m for m in sys.modules if m == 'mcp'])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
