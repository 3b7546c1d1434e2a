"""A plan over the shop: made of capabilities, approved in the middle, killed, and gone on with.

Everything here is done by the `pegboard` command, each in a process of its own. Run it with
`make demo`, or alone with `python examples/shop/plan.py`.
"""

import asyncio
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from urllib.request import Request, urlopen

from commands import asked, killed_at, pegboard
from orders_service import TOKEN
from systems import running
from telling import headline, show, tell

HERE = Path(__file__).parent
CAPABILITIES = (
    *("sql_query", "refund_amount", "find_order", "pay_back"),
    *("return_price", "parcel_label", "local_time", "write_letter"),
)
PARAMS = (
    *("sql=SELECT Total AS paid FROM Invoice WHERE InvoiceId = 98", "order_id:=1002"),
    *("weight_kg:=0.4", "name=Ada Byron", "city=Berlin", "timezone=Europe/Berlin"),
)


async def take_a_record_back() -> None:
    """Plan it, run it, approve it, kill it, go on with it, and prove what happened."""
    with tempfile.TemporaryDirectory() as folder:
        async with running():
            os.environ.update(  # noqa: TID251 - what a shell would have exported before
                PEGBOARD_BOARD=str(HERE / "plan.yaml"),
                PEGBOARD_DATA=folder,
                PEGBOARD_LOG=str(Path(folder) / "log"),
                PEGBOARD_LIST_TIMEOUT="30",
            )
            plan_id = await plan(folder)
            run_id = await run(plan_id)
            await approve()
            await go_on_twice(run_id)
            await prove()


async def plan(folder: str) -> str:
    """Which tools in which order; the id of the plan."""
    headline("A plan over the shop")
    print("Ada sends a record back. What is needed is named by capability; the tools are found.")
    print(f"\n  $ export PEGBOARD_BOARD={HERE / 'plan.yaml'} PEGBOARD_DATA={folder}")
    needed = [word for item in CAPABILITIES for word in ("-c", item)]
    given = [word for item in PARAMS for word in ("-p", item)]
    told = await pegboard("plan", *needed, *given)
    tell("Each step has its tool and its inputs now. The courier may fail: the post is tried then.")
    return told.split(maxsplit=1)[0]


async def run(plan_id: str) -> str:
    """As far as it comes; the id of the run."""
    headline("It runs as far as it may")
    await pegboard("run", plan_id, ends_with=3, told=True)
    [found] = (await asked("runs", "list"))["runs"]
    tell("The courier is down, so the post has said its price. The refund waits for a person,")
    print("and the process has ended: what waits needs nobody to wait with it.")
    return found["run_id"]


async def approve() -> None:
    """Another process decides."""
    headline("Somebody approves")
    [found] = (await asked("approvals", "list"))["approvals"]
    await pegboard("approvals", "approve", found["id"], "--note=agreed by phone")


async def go_on_twice(run_id: str) -> None:
    """The first process that goes on is killed in the middle."""
    headline("It goes on, and is killed")
    os.environ["LETTER_SECONDS"] = "50"  # noqa: TID251 - there is no hurry to kill it
    await killed_at("in_progress  write_letter", "runs", "resume", run_id)
    os.environ["LETTER_SECONDS"] = "1"  # noqa: TID251 - and none is waited for twice
    tell("The refund is paid. The letter was being written, and nobody was told that this ends.")
    headline("Another process goes on")
    said = await pegboard("runs", "resume", run_id, until="\n{")
    output = json.loads(said[said.index("\n{") :])
    tell("What was done is not done again. The letter is written, and goes out with a label:")
    show(f"\n{output['write_letter']}\n{output['parcel_label']}")


async def prove() -> None:
    """Nothing was done twice."""
    headline("What was done, and how often")
    calls = (await asked("history", "--limit=100"))["calls"]
    done = Counter(call["tool"] for call in reversed(calls) if call["status"] == "completed")
    show("\n".join(f"{tool:<24} {times} time{'s' * (times > 1)}" for tool, times in done.items()))
    refunds = await asyncio.to_thread(_refunds)
    tell(f"The orders service saw {len(refunds)} refund: {refunds[0]['amount']:.2f}.")
    await pegboard("audit", "verify")


def _refunds() -> list[dict[str, float]]:
    """What the other side says, asked behind Pegboard's back."""
    url = f"{os.environ['ORDERS_URL']}/refunds"  # noqa: TID251 - set by `running`
    with urlopen(Request(url, headers={"Authorization": f"Bearer {TOKEN}"}), timeout=30) as answer:
        return json.load(answer)


if __name__ == "__main__":
    asyncio.run(take_a_record_back())
