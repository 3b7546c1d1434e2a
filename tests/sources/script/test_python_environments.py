import asyncio
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegboard.errors import SourceUnavailable, Unavailable
from pegboard.sources.script.pep723 import Dependencies, read_dependencies
from pegboard.sources.script.python_environments import PythonEnvironments

BIN = Path(sys.prefix) / "bin"
ASK = "import greeting; print(greeting.WORD)"


@pytest.fixture
def wheel(tmp_path: Path) -> str:
    """A requirement of a package that needs no network."""
    path = tmp_path / "greeting-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("greeting.py", "WORD = 'hello'\n")
        file.writestr(
            "greeting-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n",
        )
        file.writestr(
            "greeting-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr("greeting-1.0.dist-info/RECORD", "")
    return f"greeting @ {path.as_uri()}"


@pytest.fixture
def without_uv(tmp_path: Path) -> str:
    """A PATH with Python alone."""
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "python3").symlink_to(sys.executable)
    return str(folder)


@pytest.fixture
def environments(tmp_path: Path) -> Iterator[PythonEnvironments]:
    made = opened(tmp_path, path=f"{BIN}:{os.defpath}")
    yield made
    made.close()


def opened(folder: Path, *, path: str, timeout: float = 60) -> PythonEnvironments:
    environ = {"PATH": path, "PIP_NO_INDEX": "1", "UV_OFFLINE": "1", "UV_NO_INDEX": "1"}
    environ |= {"UV_CACHE_DIR": str(folder / "cache"), "HOME": str(folder)}
    return PythonEnvironments(folder / "data", environ=environ, timeout=timeout)


async def said(python: Path, code: str) -> str:
    process = await asyncio.create_subprocess_exec(
        str(python), "-c", code, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    return out.decode().strip()


@pytest.mark.slow
async def test_uv_makes_an_environment_once(environments: PythonEnvironments, wheel: str) -> None:
    needs = Dependencies(packages=(wheel,), requires_python=">=3.11")

    first, second = [await environments.ensure(needs, within=60) for _ in range(2)]

    assert await said(first, ASK) == "hello"
    assert first == second


@pytest.mark.slow
@pytest.mark.timeout(90)
async def test_without_uv_python_makes_it(tmp_path: Path, wheel: str, without_uv: str) -> None:
    environments = opened(tmp_path, path=without_uv)
    needs = Dependencies(packages=(wheel,), requires_python=">=3.8,<9")

    python = await environments.ensure(needs, within=60)

    assert await said(python, ASK) == "hello"


@pytest.mark.slow
@pytest.mark.timeout(90)
async def test_without_uv_another_python_cannot_be_had(tmp_path: Path, without_uv: str) -> None:
    environments = opened(tmp_path, path=without_uv)

    with pytest.raises(SourceUnavailable, match=r"\(no packages on Python >=9\) cannot be"):
        await environments.ensure(Dependencies(requires_python=">=9"), within=60)


async def test_an_environment_outlives_its_source(
    environments: PythonEnvironments, tmp_path: Path, wheel: str
) -> None:
    needs = Dependencies(packages=(wheel,))
    made = await environments.ensure(needs, within=60)

    again = opened(tmp_path, path="/nowhere")

    assert await again.ensure(needs, within=40) == made


async def test_one_without_a_data_folder_is_removed(wheel: str, tmp_path: Path) -> None:
    environ = {"PATH": str(BIN), "UV_OFFLINE": "1", "UV_CACHE_DIR": str(tmp_path)}
    environments = PythonEnvironments(None, environ=environ, timeout=60)
    python = await environments.ensure(Dependencies(packages=(wheel,)), within=60)
    assert python.exists()

    environments.close()
    environments.close()

    assert not python.exists()


async def test_two_callers_share_one_installation(
    environments: PythonEnvironments, wheel: str
) -> None:
    needs = Dependencies(packages=(wheel,))

    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(environments.ensure(needs, within=60)) for _ in range(3)]

    assert len({task.result() for task in asked}) == 1


async def test_a_package_that_cannot_be_had_is_named(
    environments: PythonEnvironments, caplog: pytest.LogCaptureFixture
) -> None:
    needs = Dependencies(packages=("no-such-package-here",))

    for _ in range(2):  # tried again each time: a network may be back
        with pytest.raises(
            SourceUnavailable, match=r"\(no-such-package-here\) cannot be installed: the log"
        ):
            await environments.ensure(needs, within=60)

    assert len([line for line in caplog.messages if "no-such-package-here" in line]) == 2


async def test_without_any_installer_it_says_what_is_missing(tmp_path: Path) -> None:
    environments = opened(tmp_path, path=str(tmp_path))

    with pytest.raises(SourceUnavailable, match="need 'uv' or 'python3'"):
        await environments.ensure(Dependencies(packages=("x",)), within=40)


@pytest.fixture
def slow_uv(tmp_path: Path) -> str:
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "uv").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    (folder / "uv").chmod(0o755)
    return str(folder)


async def test_a_caller_is_told_to_come_back_while_it_is_installed(
    tmp_path: Path, slow_uv: str
) -> None:
    environments = opened(tmp_path, path=slow_uv)
    needs = Dependencies(packages=("x",))

    with pytest.raises(Unavailable, match="still being installed") as caught:
        await environments.ensure(needs, within=0.2)
    assert caught.value.nothing_done

    environments.close()
    with pytest.raises(SourceUnavailable):
        await environments.ensure(needs, within=40)


async def test_an_installation_takes_no_longer_than_it_may(tmp_path: Path, slow_uv: str) -> None:
    environments = opened(tmp_path, path=slow_uv, timeout=0.3)

    with pytest.raises(SourceUnavailable, match=r"took more than 0\.3 s"):
        await environments.ensure(Dependencies(packages=("x",)), within=40)


async def test_nothing_is_installed_after_closing(tmp_path: Path) -> None:
    environments = opened(tmp_path, path=str(BIN))
    environments.close()

    with pytest.raises(SourceUnavailable, match="is closed"):
        await environments.ensure(Dependencies(packages=("x",)), within=40)


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    environments = opened(tmp_path, path=str(BIN))

    with pytest.raises(SourceUnavailable, match="environment cannot be made: Not a directory"):
        await environments.ensure(Dependencies(packages=("x",)), within=40)


def block(text: str) -> str:
    return "\n".join(["# /// script", *(f"# {line}" for line in text.splitlines()), "# ///", ""])


def test_needs_are_read_from_the_script() -> None:
    needs = read_dependencies(
        block('requires-python = ">=3.11"\ndependencies = ["b", "a<2"]'), file="x.py"
    )

    assert needs == Dependencies(packages=("b", "a<2"), requires_python=">=3.11")


@pytest.mark.parametrize("text", ["", block("dependencies = []"), block("[tool.x]\na = 1")])
def test_a_script_that_needs_nothing_runs_as_it_is(text: str) -> None:
    assert read_dependencies(text, file="x.py") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("dependencies = [", "x.py:2: the '/// script' block is not TOML"),
        ("dependencies = 'a'", "x.py:2: 'dependencies' is a list of texts"),
        ("dependencies = [1]", "x.py:2: 'dependencies' is a list of texts"),
        ("requires-python = 3", "x.py:2: 'dependencies' is a list of texts"),
        ("dependencies = ['--pre']", "x.py:2: '--pre' is an option"),
    ],
)
def test_needs_that_are_malformed_name_the_line(text: str, reason: str) -> None:
    with pytest.raises(SourceUnavailable) as caught:
        read_dependencies(block(text), file="x.py")

    assert str(caught.value).startswith(reason)


def test_scripts_with_the_same_needs_share_an_environment() -> None:
    assert Dependencies(packages=("a", "b")).digest == Dependencies(packages=("b", "a")).digest
    assert Dependencies(packages=("a",)).digest != Dependencies(packages=("b",)).digest
