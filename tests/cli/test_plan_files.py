"""Plans in files: whole, of a bounded size, and nothing else than files."""

import os
from pathlib import Path

import pytest

from pegboard.cli.plan_files import MOST_BYTES, is_plan_file, read_plan_file
from pegboard.errors import PegboardError


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
        ("plan.json", b"{", "is no JSON"),
        ("deep.json", b"[" * 200_000, "is no JSON"),
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
        ("list.json", b"[]", "no object"),
        ("empty.yaml", b"", "no object"),
        ("long.json", b" " * (MOST_BYTES + 1), "more than 10,000,000 bytes"),
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
