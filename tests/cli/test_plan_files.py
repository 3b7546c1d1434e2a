"""Plans in files: whole, of a bounded size, and nothing else than files."""

import os
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from pegboard.cli.plan_files import (
    MAX_BYTES,
    is_plan_file,
    read_plan_file,
    refuse_extra_arguments,
)
from pegboard.errors import InvalidRequest, PegboardError


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plan.json", '{"steps": [], "timeout": 1e3}'),
        ("plan.yaml", "steps: []\ntimeout: 1000.0"),
        ("plan", "{steps: [], timeout: 1000.0}"),
    ],
    ids=["JSON", "YAML", "without a suffix"],
)
def test_a_file_holds_a_plan(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)

    assert is_plan_file(str(path))
    assert read_plan_file(str(path)) == {"steps": [], "timeout": 1000.0}


@pytest.mark.parametrize("named", ["plan_17", "summarize", "/dev/zero", "a\0b", "x" * 5000])
def test_what_is_no_file_may_be_an_id(named: str) -> None:
    assert not is_plan_file(named)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("plan.json", b"{", "is not JSON"),
        ("deep.json", b"[" * 200_000, "is not JSON"),
        ("plan.yaml", b"{", "not valid YAML"),
        ("twice.yaml", b"{steps: [], steps: []}", "stands here twice"),
        (
            "bomb.yaml",
            b"a: &a [1]\n"
            + b"".join(
                b"%c: &%c [*%c, *%c, *%c, *%c]\n" % (c, c, c - 1, c - 1, c - 1, c - 1)
                for c in range(98, 115)
            ),
            "too large",
        ),
        ("latin.json", b"\xff", "not UTF-8"),
        ("list.json", b"[]", "not an object"),
        ("empty.yaml", b"", "not an object"),
        ("long.json", b" " * (MAX_BYTES + 1), "more than 10,000,000 bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_with_something_else_is_refused(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(PegboardError, match=said):
        read_plan_file(str(tmp_path / name))


def test_a_device_a_pipe_and_nothing_are_no_plans(tmp_path: Path) -> None:
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.json")

    for name, said in [("zero", "a device"), ("pipe", "a pipe"), ("gone", "no file")]:
        with pytest.raises(PegboardError, match=said):
            read_plan_file(str(tmp_path / f"{name}.json"))


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["n=1"], "parameters of a plan need --param; did you mean '--param n=1'?"),
        (["a=x y", "n:=1"], "did you mean '--param 'a=x y' --param n:=1'?"),
        (["second"], "there is more: 'second'; several steps are written as -c CAPABILITY"),
        (["=1"], "there is more: '=1'"),
    ],
    ids=str,
)
def test_what_stands_behind_a_goal_is_refused_with_what_to_write(
    texts: list[str], said: str
) -> None:
    refuse_extra_arguments([])

    with pytest.raises(InvalidRequest) as caught:
        refuse_extra_arguments(texts)

    assert said in str(caught.value)


@pytest.mark.parametrize("what", ["plan", "run"])
def test_a_parameter_without_its_option_gets_a_hint(
    folder: Path, pegboard: Command, what: str
) -> None:
    done = pegboard(what, "my__greet", "name=Ada")

    assert done.returncode == 2
    assert done.stderr == (
        "pegboard: parameters of a plan need --param; did you mean '--param name=Ada'?\n"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param([], "Name a goal", id="nothing"),
        pytest.param(["last", "-c", "beginning"], "Name either a goal or capab", id="both"),
    ],
)
def test_a_plan_without_one_aim_names_what_to_give(
    pegboard: Command, given: list[str], said: str
) -> None:
    done = pegboard("plan", *given)

    assert done.returncode == 2
    assert said in done.stderr
