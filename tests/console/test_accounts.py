"""What people may use, and with whose account their calls act, in a real browser.

`make web` builds what is tested, `make peers` installs the browser. With `CONSOLE_SHOTS=DIR` a
picture of each page is written to that folder.
"""

from pathlib import Path

import pytest
from tests.console.server import check_built
from tests.console.test_people import BOARD, SHOP, walk

STEPS = [
    "two people",
    "what the organisation and its people may use",
    "one of several accounts of a system acts",
    "a call waits for an account of its caller",
    "a shared skill is approved for the organisation, another is shared no longer",
]


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_people_have_quotas_and_choose_among_their_accounts(tmp_path: Path) -> None:
    check_built()
    (tmp_path / "console_people.py").write_text(SHOP)
    board = BOARD.replace("ask: [shop__refund]", "ask: [shop__refund, bank__balance]")
    (tmp_path / "board.yaml").write_text(board)

    report = await walk(tmp_path, "accounts.mjs")

    assert report["faults"] == [], "\n".join(report["faults"])
    assert report["done"] == STEPS
