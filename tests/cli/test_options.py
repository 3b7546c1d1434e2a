import logging
import subprocess
import sys

import pytest

from pegboard.cli.options import hide_source_tracebacks
from pegboard.runtime import Settings

_LOG = logging.getLogger("pegboard.sources")


def _fail() -> None:
    try:
        raise ValueError("foreign text")
    except ValueError as error:
        _LOG.error("my_module failed to import", exc_info=error)
    _LOG.warning("scripts run without a sandbox")


@pytest.mark.parametrize("log", ["off", "calls.jsonl"])
def test_stacks_are_left_out_and_plain_warnings_are_not(
    log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with hide_source_tracebacks(Settings(log=log)):
        _fail()

    assert capsys.readouterr().err == "scripts run without a sandbox\n"


@pytest.mark.slow
def test_what_the_mcp_library_says_of_a_server_is_left_to_the_reason_of_its_source() -> None:
    code = (
        "import logging\n"
        "from pegboard.cli.options import hide_source_tracebacks\n"
        "from pegboard.runtime import Settings\n"
        "for log in ('off', 'stderr'):\n"
        "    with hide_source_tracebacks(Settings(log=log)):\n"
        "        logging.getLogger('mcp.client.sse').error('Error in sse_reader, %s', log)\n"
        "        logging.getLogger('client').warning('Tool get not listed, %s', log)\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stderr == "Error in sse_reader, stderr\nTool get not listed, stderr\n"


def test_whoever_wants_the_log_is_left_with_it() -> None:
    before = list(_LOG.handlers)
    with hide_source_tracebacks(Settings(log="stderr")):
        within = list(_LOG.handlers)
    with hide_source_tracebacks(Settings()):
        pass

    assert within == before == _LOG.handlers
