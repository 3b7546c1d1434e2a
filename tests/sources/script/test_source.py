import asyncio
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.sources.script.conftest import Open, Write

from pegboard.core.context import ToolContext
from pegboard.core.health import HealthStatus
from pegboard.core.ports.sandbox import SandboxJob, SandboxOutcome
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.tool import Effect, Limits, Retry
from pegboard.sources.script import KIND
from pegboard.sources.script.config import ScriptConfig
from pegboard.sources.script.plain_process import run_plainly
from pegboard.testing import SourceContract

COUNT = """
#!/usr/bin/env python3
# /// tool
# description: Count the words of a text.
# effect: read
# input_schema:
#   type: object
#   properties: {text: {type: string}, least: {type: integer}}
#   required: [text]
# output_schema:
#   type: object
#   properties: {words: {type: integer}}
# ///
import json, sys

print(json.dumps({"words": len(json.load(sys.stdin)["text"].split())}))
"""


class TestScriptSource(SourceContract):
    kind = KIND
    least_tools = 3

    @pytest.fixture(autouse=True)
    def files(self, tmp_path: Path, write: Write) -> None:
        self.folder = tmp_path
        write("count.py", COUNT)
        write("log.tool.yaml", "description: x\ncommand: [echo]\noutput: text")
        write("undescribed.sh", "#!/bin/sh")

    async def open_source(self) -> Source:
        config = KIND.config.model_validate({"paths": ["."], "sandbox": "none"})
        return await KIND.open("ops", config, Services(base_dir=self.folder))


async def test_a_script_is_called_with_json(write: Write, open_board: Open) -> None:
    write("count.py", COUNT)
    board = await open_board()

    result = await board.call("ops__count", {"text": "one two three", "least": "1"})

    assert result.unwrap() == {"words": 3}


async def test_arguments_are_checked_before_the_script_runs(write: Write, open_board: Open) -> None:
    write("count.py", COUNT)
    board = await open_board()

    result = await board.call("ops__count", {"txet": "one"})

    assert "did you mean 'text'?" in result.text
    assert result.meta.attempts == 0


async def test_a_script_that_breaks_its_output_schema_is_at_fault(
    write: Write, open_board: Open
) -> None:
    write("count.py", COUNT.replace("len(json", "str(json").replace(".split())", ")"))
    board = await open_board()

    result = await board.call("ops__count", {"text": "one"})

    assert result.error is not None
    assert result.error.code == "output_invalid"


async def test_a_script_is_called_with_flags(write: Write, open_board: Open) -> None:
    write("say.sh", '#!/bin/sh\nprintf "%s\\n" "$@"\n')
    write(
        "say.tool.yaml",
        """
        description: Say it.
        input: flags
        output: text
        input_schema: {properties: {name: {type: string}, loud: {type: boolean}}}
        """,
    )
    board = await open_board()

    result = await board.call("ops__say", {"name": "$(id) --x", "loud": True})

    assert result.text == "--name=$(id) --x\n--loud"


async def test_a_command_line_is_filled_in(write: Write, open_board: Open) -> None:
    write(
        "echo.tool.yaml",
        """
        description: Say it.
        command: [echo, -n]
        input: template
        arguments: ["hello {name}"]
        output: text
        input_schema: {properties: {name: {type: string}}, required: [name]}
        """,
    )
    board = await open_board()

    assert (await board.call("ops__echo", {"name": "you"})).text == "hello you"


async def test_what_a_description_says_becomes_the_spec(write: Write, open_board: Open) -> None:
    write("run.sh", "#!/bin/sh")
    write(
        "run.tool.yaml",
        """
        name: tidy
        title: Tidy up
        description: Tidy up.
        effect: admin
        idempotent: true
        version: 2.0.0
        category: housekeeping
        tags: [a]
        capabilities: [tidying]
        scopes: [ops]
        retries: 3
        concurrency: 1
        timeout: 7
        """,
    )
    spec = (await open_board()).get("ops__tidy").spec

    assert (spec.title, spec.description, spec.effect) == ("Tidy up", "Tidy up.", Effect.ADMIN)
    assert (spec.idempotent, spec.id, spec.category) == (True, "ops__tidy_v2", "housekeeping")
    assert (spec.tags, spec.capabilities, spec.scopes) == (("a",), ("tidying",), ("ops",))
    assert (spec.retry, spec.limits) == (Retry(max_retries=3), Limits(concurrency=1))
    assert (spec.timeout, spec.handler, spec.action) == (12.0, "script", "tidy")


async def test_a_faulty_script_is_listed_with_the_reason_and_the_others_go_on(
    write: Write, open_board: Open
) -> None:
    write("count.py", COUNT)
    write("bad.sh", "#!/bin/sh\n# /// tool\n# description: x\n# efect: read\n# ///")
    write("lonely.sh", "#!/usr/bin/env no-such-program\n# /// tool\n# description: x\n# ///")
    board = await open_board()

    assert board.get("ops__count").spec.unavailable == ""
    assert board.get("ops__bad").spec.unavailable == (
        "bad.sh:4: unknown key 'efect'; did you mean 'effect'?"
    )
    assert "the program 'no-such-program'" in board.get("ops__lonely").spec.unavailable
    result = await board.call("ops__bad", {})
    assert result.error is not None
    assert result.error.code == "source_unavailable"


async def test_a_faulty_script_says_so_when_it_is_called_past_the_registry(
    write: Write, open_board: Open
) -> None:
    write("bad.sh", "#!/bin/sh")
    tool = (await open_board()).get("ops__bad")

    with pytest.raises(Exception, match="'ops__bad' cannot be used: "):
        await tool.run({}, ToolContext())


async def test_two_scripts_of_one_name_are_told_apart(write: Write, open_board: Open) -> None:
    for name in ("a.sh", "a.py", "b.sh"):
        write(name, "# /// tool\n# name: a\n# description: x\n# ///")
    board = await open_board()

    unusable = [tool.spec for tool in board if tool.spec.unavailable]
    assert [spec.action for spec in unusable] == ["a.sh", "b.sh"]
    assert unusable[0].unavailable == "'a' is also the name of a.py: give one another 'name'"


async def test_even_odd_names_are_told_apart(write: Write, open_board: Open) -> None:
    write("a.py", "# /// tool\n# description: x\n# name: b.sh\n# ///")
    write("b.sh", "# /// tool\n# description: x\n# name: b.sh\n# ///")

    assert [tool.spec.action for tool in await open_board()] == ["b.sh", "b.sh_"]


async def test_descriptions_are_read_again(write: Write, tmp_path: Path) -> None:
    config = KIND.config.model_validate({"paths": ["."], "sandbox": "none"})
    source = await KIND.open("ops", config, Services(base_dir=tmp_path))
    write("count.py", COUNT)
    before = await source.tools()
    write("count.py", COUNT.replace("Count the", "Number of"))

    after = await source.tools()

    assert [tool.spec.description for tool in (*before, *after)] == [
        "Count the words of a text.",
        "Number of words of a text.",
    ]


async def test_a_script_gets_the_variables_that_it_asks_for_alone(
    write: Write, open_board: Open
) -> None:
    write(
        "env.sh",
        "#!/bin/sh\n# /// tool\n# description: x\n# output: text\n# environment: [TOKEN]\n# ///\n"
        'echo "$TOKEN $OTHER"',
    )
    environ = {"TOKEN": "t", "OTHER": "o"}
    board = await open_board(services={"environ": environ}, environment=["TOKEN", "OTHER"])

    assert (await board.call("ops__env")).text == "t "


async def test_a_script_may_make_files(write: Write, open_board: Open) -> None:
    write(
        "chart.sh",
        "#!/bin/sh\n# /// tool\n# description: x\n# artifacts: true\n# ///\n"
        'printf "<svg/>" > "$PEGBOARD_OUTPUT/chart.svg"',
    )
    board = await open_board()

    result = await board.call("ops__chart")

    assert [(item.name, item.media_type, item.size) for item in result.artifacts] == [
        ("chart.svg", "image/svg+xml", 6)
    ]


async def test_scripts_start_in_a_folder_of_the_configuration(
    write: Write, open_board: Open, tmp_path: Path
) -> None:
    write("pwd.sh", "#!/bin/sh\n# /// tool\n# description: x\n# output: text\n# ///\npwd")
    (tmp_path / "data").mkdir()
    board = await open_board(directory="data")
    nowhere = await open_board(directory="gone")

    assert (await board.call("ops__pwd")).text == str(tmp_path / "data")
    assert nowhere.get("ops__pwd").spec.unavailable == (
        "the folder 'gone' of 'directory' does not exist"
    )


SLEEP = "#!/bin/sh\n# /// tool\n# description: x\n# timeout: 0.3\n# ///\nsleep 60"


async def test_a_script_that_hangs_is_stopped(write: Write, open_board: Open) -> None:
    write("sleep.sh", SLEEP)
    board = await open_board()

    result = await board.call("ops__sleep")

    assert result.error is not None
    assert (result.error.code, "did not finish within 0.3 s" in result.text) == ("timeout", True)


async def test_a_script_gets_no_more_time_than_the_call_has(write: Write, open_board: Open) -> None:
    write("sleep.sh", SLEEP.replace("0.3", "60"))
    board = await open_board()
    loop = asyncio.get_running_loop()

    result = await board.call("ops__sleep", {}, ToolContext(deadline=loop.time() + 0.3))

    assert result.error is not None
    assert result.error.code == "timeout"


async def test_a_call_without_time_starts_nothing(
    write: Write, open_board: Open, tmp_path: Path
) -> None:
    write("mark.sh", f"{SLEEP}\ntouch {tmp_path}/ran")
    tool = (await open_board()).get("ops__mark")

    with pytest.raises(Exception, match="No time is left"):
        await tool.run({}, ToolContext(deadline=0.0))

    assert not (tmp_path / "ran").exists()


NEEDS = """
# /// script
# dependencies = ["greeting @ {wheel}"]
# ///
# /// tool
# description: Greet.
# output: text
# ///
import greeting

print(greeting.WORD)
"""


async def test_a_python_script_runs_with_its_dependencies(
    write: Write, open_board: Open, tmp_path: Path
) -> None:
    wheel = tmp_path / "greeting-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("greeting.py", "WORD = 'hello'\n")
        info = "greeting-1.0.dist-info"
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        file.writestr(f"{info}/RECORD", "")
    write("greet.py", NEEDS.format(wheel=wheel.as_uri()))
    environ = {"PATH": f"{Path(sys.prefix) / 'bin'}:{os.defpath}", "UV_OFFLINE": "1"}
    environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
    board = await open_board(services={"environ": environ, "data_dir": tmp_path / "data"})

    assert (await board.call("ops__greet")).unwrap() == "hello"


async def test_a_broken_block_of_dependencies_is_named(write: Write, open_board: Open) -> None:
    write("greet.py", NEEDS.replace("]", ""))

    unavailable = (await open_board()).get("ops__greet").spec.unavailable

    assert "greet.py:2: the '/// script' block is not TOML" in unavailable


class Apart:
    """A sandbox that says what it was asked to run; where commands run is its own affair."""

    def __init__(self, why: str = "") -> None:
        self.why = why
        self.jobs: list[SandboxJob] = []
        self.asked: list[bool] = []

    async def why_no_commands(self, *, network: bool = False) -> str:
        self.asked.append(network)
        return self.why

    async def run(self, job: SandboxJob) -> SandboxOutcome:
        self.jobs.append(job)
        return await run_plainly(job)


async def test_a_script_runs_in_the_sandbox_unless_somebody_says_otherwise(
    write: Write, open_board: Open, tmp_path: Path
) -> None:
    count = write("count.py", COUNT)
    apart = Apart()
    board = await open_board(services={"sandbox": apart}, sandbox="required")

    await board.call("ops__count", {"text": "x"})

    (job,) = apart.jobs
    assert count in job.readable
    assert (job.writable, job.directory, job.network, job.environment) == ((), None, False, {})
    assert job.stdin == b'{"text": "x"}'
    assert ScriptConfig.model_validate({"paths": ["."]}).sandbox == "required"


async def test_the_sandbox_is_asked_for_the_network_where_a_script_needs_it(
    write: Write, open_board: Open
) -> None:
    write("net.sh", "#!/bin/sh\n# /// tool\n# description: x\n# network: true\n# ///")
    apart = Apart()

    board = await open_board(services={"sandbox": apart}, sandbox="required", network=True)

    await board.call("ops__net")
    assert (apart.asked, apart.jobs[0].network) == ([True], True)


@pytest.mark.parametrize(
    ("services", "why"),
    [
        pytest.param({}, "this board has no sandbox", id="none"),
        pytest.param({"sandbox": Apart("no back end")}, "no back end", id="one that cannot"),
    ],
)
async def test_without_a_sandbox_a_script_is_unavailable(
    write: Write, open_board: Open, services: Any, why: str
) -> None:
    write("count.py", COUNT)

    spec = (await open_board(services=services, sandbox="required")).get("ops__count").spec

    assert spec.description == "Count the words of a text."
    assert spec.unavailable == (
        f"scripts run in a sandbox, and {why}. Where that is not needed, write 'sandbox: none' "
        "into the source's config"
    )


async def test_where_the_operator_says_so_scripts_run_without_a_sandbox_and_it_is_told_once(
    write: Write, open_board: Open, caplog: pytest.LogCaptureFixture
) -> None:
    write("count.py", COUNT)
    write("other.py", COUNT)

    board = await open_board(sandbox="auto")

    assert (await board.call("ops__count", {"text": "x"})).unwrap() == {"words": 1}
    said = [item.getMessage() for item in caplog.records if item.name.startswith("pegboard")]
    assert said == ["ops: scripts run without a sandbox: this board has no sandbox"]


@pytest.mark.parametrize(
    ("sandbox", "services", "status"),
    [
        ("none", {}, HealthStatus.HEALTHY),
        ("auto", {}, HealthStatus.DEGRADED),
        ("required", {}, HealthStatus.UNHEALTHY),
        ("required", {"sandbox": Apart()}, HealthStatus.HEALTHY),
    ],
)
async def test_health_says_whether_scripts_run_as_they_should(
    sandbox: str, services: Any, status: HealthStatus
) -> None:
    config = KIND.config.model_validate({"paths": ["."], "sandbox": sandbox})
    source = await KIND.open("ops", config, Services(**services))

    assert (await source.health()).status is status


async def test_the_same_script_in_two_sources_is_one_target(tmp_path: Path, write: Write) -> None:
    write("count.py", COUNT)
    services = Services(base_dir=tmp_path)

    targets: set[str] = set()
    for name, path in (("ops", "count.py"), ("more", ".")):
        config = KIND.config.model_validate({"paths": [path], "sandbox": "none"})
        source = await KIND.open(name, config, services)
        targets |= {tool.spec.target for tool in await source.tools()}
        await source.close()

    assert targets == {f"script {tmp_path / 'count.py'}"}
