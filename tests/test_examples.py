"""Every example is a whole program, and does what it says."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.docs.pages import ROOT, fences
from tests.docs.runner import is_said, shown
from tests.peers.ports import free_port

EXAMPLES = ROOT / "examples"
SAID = {
    "letters.py": ["3\n", "- leter: unknown argument; did you mean 'letter'?"],
    "tool_loop.py": ["name: unknown argument", "ordered 6 bags of filter", "I ordered 6 bags."],
    "fail_well.py": [
        "model:    'amount' must be more than 0.",
        "model:    Order 17 is already refunded. (error id e_",
        "caller:   unavailable, retryable: True, in: 3600",
        "model:    'refund' failed. (error id e_",
        "operator: failed; KeyError: 'card 4111-1111-1111-1111'",
    ],
    "two_callers.py": [
        "ann sees balance, pay, close_account\n",
        "guest sees balance, close_account\n  pay: deny, because the caller lacks the scope",
        "paid 5 from x1\nAccess to 'pay' denied: the books are being closed\n200\n",
    ],
    "keep_records.py": [
        "asked twice, transferred 1 time\nfirst: 1, again: 1, replayed: True\n",
        "'transfer' failed.\n",
        "the operator reads 'vault alarm': True",
    ],
    "listen.py": [
        "{'completed': 1, 'failed': 1, 'invalid': 1}",
        "error half failed tool_failed",
        'pegboard_calls_total{source="",status="completed",tool="half"} 1.0',
    ],
    "specialists.py": [
        "call_agent: completed, Dear Ada, the lamp is refunded.\n",
        "an agent's shop__count_orders: completed, Ada has 12 orders\n",
        "the skill 'refunds' in force allows shop__find_order, shop__refund\n",
        "shop__refund: completed, refunded order 7\nDone: 40 euros, and Ada has a letter.\n",
    ],
}
"""What each program prints, among other things."""
BESIDE_A_SERVER = "call_over_http.py"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(330)]  # the demo, on a busy machine


def run(*command: str | Path, folder: Path, path: Path | None = None, seconds: float = 80) -> str:
    """What a program prints; it ends well and complains of nothing."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**_unmeasured(), "PYTHONPATH": str(path or ""), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _unmeasured() -> dict[str, str]:
    """The environment, but for what has a child's coverage measured: examples are no part of it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COV")}


def test_every_program_is_run_here() -> None:
    assert {file.name for file in EXAMPLES.glob("*.py")} == {*SAID, BESIDE_A_SERVER}


@pytest.mark.parametrize("name", SAID)
def test_a_program_says_what_it_shows(name: str, tmp_path: Path) -> None:
    said = run("-W", "error", EXAMPLES / name, folder=tmp_path)

    assert [line for line in SAID[name] if line not in said] == [], said


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a server with the built-in tools."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pegboard", "serve", "--port", "0"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip().rpartition(" ")[2]
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_a_server_is_called_with_the_standard_library(server: str, tmp_path: Path) -> None:
    said = run("-W", "error", EXAMPLES / BESIDE_A_SERVER, server, folder=tmp_path)

    tools, answer, missing, unknown, replayed = said.splitlines()
    assert tools.startswith("tools: builtin__calculator")  # others need a sandbox
    assert answer == "answer: 42"
    assert missing.startswith("422 arguments_invalid: expression: missing, required")
    assert unknown.endswith("expresion: unknown argument; did you mean 'expression'?")
    assert replayed == "replayed: False True"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[str]:
    """The address of the server of `make demo SERVE=1`."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, EXAMPLES / "shop" / "serve.py", str(port)],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        env=_unmeasured() | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_the_shop_is_served_with_a_chat_that_waits_for_an_approval(shop: str) -> None:
    with httpx2.Client(base_url=f"{shop}/v1", timeout=30) as client:
        wait_for(lambda: client.get("/approvals"), seconds=60)
        (asked,) = client.get("/approvals").json()["approvals"]
        assert (asked["tool"], asked["arguments"]) == (
            "shop__refund",
            {"invoice": 98, "amount": 3.98},
        )
        client.post(f"/approvals/{asked['id']}", json={"decision": "approve"}).raise_for_status()

        refunded = client.get(f"/runs/{asked['run_id']}", params={"wait": 20}).json()
        assert refunded["state"] == "completed"
        assert "Refunded 3.98 for invoice 98" in refunded["output"]["text"]

        told = client.post("/chat", json={"message": "What is the weather?", "stream": False})
        assert "scripted" in told.json()["answer"]


def wait_for(ask: Callable[[], httpx2.Response], *, seconds: float) -> None:
    """Ask until a server answers."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(httpx2.ConnectError):
            if ask().is_success:
                return
        assert time.monotonic() < end
        time.sleep(0.2)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `make demo` prints."""
    folder = tmp_path_factory.mktemp("demo")
    return run(EXAMPLES / "shop" / "demo.py", folder=folder, seconds=300)


def test_the_shop_shows_each_outcome_in_its_closing_table(demo: str) -> None:
    table = demo.partition("What happened\n")[2].partition("The other systems")[0]

    assert outcomes(table) == [
        ("a number given as text", "completed", 1),
        ("an unknown argument", "arguments_invalid", 0),
        ("a write the policy denies", "access_denied", 0),
        ("a write that needs approval", "approval_required", 0),
        ("busy twice, then retried", "completed", 3),
        ("a database query", "completed", 1),
        ("SQL that would write", "request_invalid", 1),
        ("a hidden table", "request_invalid", 1),
        ("a result too large for a model", "completed", 1),
        ("its second page", "completed", 1),
        ("all of it, by handle", "completed", 1),
        ("in parallel: article 17", "completed", 1),
        ("in parallel: article -1", "tool_failed", 1),
        ("in parallel: article 23", "completed", 1),
    ]
    assert "14 calls are in the history, including refused calls." in table


def test_the_shop_answers_two_organisations_by_what_each_sees(demo: str) -> None:
    said = demo.partition("Who sees what\n")[2].partition("Part 6 of 6")[0]

    lines = [line.strip() for line in said.splitlines()[1:] if line]
    assert lines == [
        "Bob of vinyl asks: How many orders are open?",
        "2 orders are open.",
        "bob--orders__list_orders: allow, because the default for tools that read is allow",
        "Eve of tape asks: How many orders are open?",
        "I have nothing that knows your orders.",
        "bob--orders__list_orders: Tool 'bob--orders__list_orders' not found.",
        "Bob's key: accepted",
        "Bob's key, revoked: refused",
    ]


def test_the_shop_calls_its_teams_other_systems_alike(demo: str) -> None:
    table = demo.partition("Results of the systems\n")[2].partition("Next steps\n")[0]

    assert outcomes(table) == [
        ("a REST API: read", "completed", 1),
        ("a REST API: write", "completed", 1),
        ("an invalid body is not sent", "arguments_invalid", 0),
        ("a request the API refuses", "request_invalid", 1),
        ("an operation needing approval", "approval_required", 0),
        ("an MCP server over stdio", "completed", 1),
        ("a script", "completed", 1),
        ("a script that fails", "request_invalid", 1),
        ("a system that is down", "source_unavailable", 0),
        ("a system that does not answer", "source_unavailable", 0),
    ]


def test_a_system_that_does_not_answer_says_why_and_harms_no_other(demo: str) -> None:
    listed = demo.partition("The other systems of the team\n")[2].partition("Calls to the")[0]
    states = dict(re.findall(r"^  (\w+) +\w+ +(ok|failed)", listed, re.MULTILINE))

    assert states == {
        "shop": "ok",
        "orders": "ok",
        "clock": "ok",
        "desk": "ok",
        "crm": "failed",
        "warehouse": "failed",
    }
    assert "it refuses the connection" in listed
    assert "did not complete the handshake within 5 s" in listed


def outcomes(table: str) -> list[tuple[str, str, int]]:
    """What a closing table of the shop says: what was called, its outcome, after how many tries."""
    rows = re.findall(r"^  (\S.{31}) (\S+) +(\w+) +(\d+) +[\d.]+$", table, re.MULTILINE)
    return [(what.strip(), outcome, int(tries)) for what, _, outcome, tries in rows]


def test_the_shop_plans_over_all_kinds_of_sources_with_a_fallback(demo: str) -> None:
    planned = part(demo, "A plan over the shop", "The run waits for approval")
    sources = set(re.findall(r"[├└]─ \w+: (\w+)__", planned))

    assert sources == {"chinook", "shop", "orders", "courier", "desk", "clock"}
    assert "price: courier__price_v1 | shop__post_price_v1" in planned
    assert "refund_order: a person is asked first" in planned


def test_the_shops_run_falls_back_and_waits_for_a_person(demo: str) -> None:
    ran = part(demo, "The run waits for approval", "The run is resumed and killed")

    assert re.search(r"^    ✓ price +\|.*\| +\d+ ms  shop__post_price$", ran, re.MULTILINE)
    assert re.search(r"^    … refund_order ", ran, re.MULTILINE)
    assert 'arguments: {"order_id": 1002, "amount": 3.98}' in ran
    assert "state: approved" in ran


def test_the_shops_run_survives_that_its_process_is_killed_and_repeats_nothing(demo: str) -> None:
    killed = part(demo, "The run is resumed and killed", "Another process resumes the run")
    resumed = part(demo, "Another process resumes the run", "Calls by tool")
    proof = part(demo, "Calls by tool", "Next steps")

    assert re.search(
        r"completed    refund_order  orders__refund_order\n"
        r"    in_progress  write_letter\n\n  \$ kill -9 \d+\n",
        killed,
    )
    assert len(re.findall(r"^    ✓ \w+ ", resumed, re.MULTILINE)) == 8
    assert "Refund 501: you get back 3.98. Send it with the post, for 5.34." in resumed
    assert re.findall(r"__\w+ +(\d+ times?)$", proof, re.MULTILINE) == ["1 time"] * 8
    assert "The orders service saw 1 refund: 3.98." in proof
    assert re.search(r"^    \d+ records are intact$", proof, re.MULTILINE)


def test_the_shops_agent_answers_with_its_tools_and_waits_for_an_approval(demo: str) -> None:
    chat = part(demo, "A chat over the shop", "Summary")

    assert "**Iron Maiden** sells best." in chat
    assert "plans 3 steps that run at the same time: Rank the artists, Price the parcel" in chat
    assert "pieces of article 17" in chat
    assert chat.count("calls shop__price_with_tax") == 1  # one question asks for a price
    assert "3 messages, 7 calls: all of it is stored." in chat
    assert "shop__refund waits for an approval" in chat
    assert "invoice 98 is of **3.98** dollars. Refunded 3.98 for invoice 98." in chat
    assert "1 chat of 3 questions: all answered." in demo


def part(demo: str, title: str, following: str) -> str:
    """What stands under one title."""
    return demo.partition(f"{title}\n")[2].partition(f"\n{following}\n")[0]


def test_the_readme_shows_what_the_shop_says(demo: str) -> None:
    shops = [f for f in fences(ROOT / "README.md") if re.search("busy twice|write_letter", f.body)]

    assert len(shops) == 2
    assert [line for f in shops for line in shown(f) if not is_said(line, demo)] == [], demo


@pytest.fixture(scope="module")
def plug(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source plug, with its distribution installed in `site`."""
    folder = tmp_path_factory.mktemp("plug") / "csv_source"
    shutil.copytree(EXAMPLES / "csv_source", folder)
    options = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation")
    run("-m", "pip", "install", *options, "--target", "site", ".", folder=folder)
    return folder


def test_the_plug_keeps_what_every_source_promises(plug: Path) -> None:
    said = run(
        *("-m", "pytest", "-q", "-c", "pyproject.toml", "-p", "no:cacheprovider"),
        folder=plug,
        path=plug / "site",
    )

    assert re.search(r"^1\d passed", said, re.MULTILINE), said


def test_the_plug_is_found_by_its_entry_point(plug: Path) -> None:
    call = ("call", "sky__find_planets", "--arg", "kind=ice")
    said = run("-m", "pegboard", *call, folder=plug, path=plug / "site")

    assert '"name":"Neptune"' in said
    assert "Earth" not in said
