"""Who called what, the audit trail, settings and figures of sources, in a real browser.

`make web` builds what is tested, `make peers` installs the browser. With `CONSOLE_SHOTS=DIR` a
picture of each page is written to that folder.
"""

from pathlib import Path

import pytest
from tests.console.server import check_built
from tests.console.test_people import BOARD, SHOP, walk

STEPS = [
    "two people, and what they call",
    "who called what",
    "the calls of a filter are exported",
    "a filter that fits nothing, by keyboard and on a phone",
    "a person sees their own calls alone",
    "the trail, and its proof",
    "the figures of a source",
    "what the server runs with",
    "a person's own settings",
    "a new password",
    "a theme for this browser",
]
MACHINE = '''

@tool(effect="read")
def break_down() -> str:
    """Break down."""
    raise RuntimeError("the belt has snapped")
'''


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_people_read_what_was_done_and_what_is_set(tmp_path: Path) -> None:
    check_built()
    (tmp_path / "console_people.py").write_text(SHOP + MACHINE)
    (tmp_path / "board.yaml").write_text(BOARD)

    report = await walk(tmp_path, "records.mjs")

    assert report["faults"] == [], "\n".join(report["faults"])
    assert report["done"] == STEPS
