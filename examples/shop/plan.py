"""A plan over the shop: made from capabilities, approved by a person, killed, and resumed.

Every step runs the `pegboard` command in its own process. Run it with
`make demo`, or alone with `python examples/shop/plan.py`.
"""

import asyncio
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from urllib.request import Request, urlopen

from commands import kill_at, pegboard, query
from orders_service import TOKEN
from output import headline, say, show
from systems import running

HERE = Path(__file__).parent
CAPABILITIES = (
    *("sql_query", "refund_amount", "find_order", "pay_back"),
    *("return_price", "parcel_label", "local_time", "write_letter"),
)
PARAMS = (
    *("sql=SELECT Total AS paid FROM Invoice WHERE InvoiceId = 98", "order_id:=1002"),
    *("weight_kg:=0.4", "name=Ada Byron", "city=Berlin", "timezone=Europe/Berlin"),
)


async def take_a_record_back() -> Counter[str]:
    """Make a plan, run it, approve a step, kill the process, resume, and verify the audit trail.

    Returns:
        How often each tool did its work.
    """
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
            await resume_twice(run_id)
            return await prove()


async def plan(folder: str) -> str:
    """Make the plan; returns its id."""
    headline("A plan over the shop")
    print("Ada returns a record. The request names capabilities; Pegboard chooses the tools.")
    print(f"\n  $ export PEGBOARD_BOARD={HERE / 'plan.yaml'} PEGBOARD_DATA={folder}")
    needed = [word for item in CAPABILITIES for word in ("-c", item)]
    given = [word for item in PARAMS for word in ("-p", item)]
    printed = await pegboard("plan", *needed, *given)
    say("Each step has a tool and inputs. If the courier fails, the post is asked instead.")
    return printed.split(maxsplit=1)[0]


async def run(plan_id: str) -> str:
    """Run the plan until it waits for approval; returns the id of the run."""
    headline("The run waits for approval")
    await pegboard("run", plan_id, ends_with=3, progress=True)
    [found] = (await query("runs", "list"))["runs"]
    say("The courier is down, so the post quoted its price. The refund waits for a person.")
    print("The process has ended: a waiting run needs no process.")
    return found["run_id"]


async def approve() -> None:
    """Approve the refund in another process."""
    headline("A person approves")
    [found] = (await query("approvals", "list"))["approvals"]
    await pegboard("approvals", "approve", found["id"], "--note=agreed by phone")


async def resume_twice(run_id: str) -> None:
    """Kill the first process that resumes the run, and resume it in a second one."""
    headline("The run is resumed and killed")
    os.environ["LETTER_SECONDS"] = "50"  # noqa: TID251 - time enough to kill it
    await kill_at("in_progress  write_letter", "runs", "resume", run_id)
    os.environ["LETTER_SECONDS"] = "1"  # noqa: TID251 - and then no need to wait
    say("The refund is paid. The process was killed while it wrote the letter.")
    headline("Another process resumes the run")
    printed = await pegboard("runs", "resume", run_id, until="\n{")
    output = json.loads(printed[printed.index("\n{") :])
    say("Completed steps are not repeated. The letter and its parcel label:")
    show(f"\n{output['write_letter']}\n{output['parcel_label']}")


async def prove() -> Counter[str]:
    """Show that nothing was done twice; returns how often each tool did its work."""
    headline("Calls by tool")
    calls = (await query("history", "--limit=100"))["calls"]
    done = Counter(call["tool"] for call in reversed(calls) if call["status"] == "completed")
    show("\n".join(f"{tool:<24} {times} time{'s' * (times > 1)}" for tool, times in done.items()))
    refunds = await asyncio.to_thread(_refunds)
    say(f"The orders service saw {len(refunds)} refund: {refunds[0]['amount']:.2f}.")
    await pegboard("audit", "verify")
    return done


def _refunds() -> list[dict[str, float]]:
    """The refunds that the orders service has recorded, read without Pegboard."""
    url = f"{os.environ['ORDERS_URL']}/refunds"  # noqa: TID251 - set by `running`
    with urlopen(Request(url, headers={"Authorization": f"Bearer {TOKEN}"}), timeout=30) as answer:
        return json.load(answer)


if __name__ == "__main__":
    asyncio.run(take_a_record_back())
