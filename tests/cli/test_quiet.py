import logging

import pytest

from pegboard.cli.quiet import quiet
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
    with quiet(Settings(log=log)):
        _fail()

    assert capsys.readouterr().err == "scripts run without a sandbox\n"


def test_whoever_wants_the_log_is_left_with_it() -> None:
    before = list(_LOG.handlers)
    with quiet(Settings(log="stderr")):
        within = list(_LOG.handlers)
    with quiet(Settings()):
        pass

    assert within == before == _LOG.handlers
