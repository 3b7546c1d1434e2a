from pathlib import Path
from typing import Any

import pytest

from pegboard.core.ports.sandbox import SandboxJob, SandboxOutcome
from pegboard.core.result import ToolResult
from pegboard.errors import (
    InvalidRequest,
    PegboardError,
    SourceUnavailable,
    ToolFailed,
    ToolTimeout,
    Unavailable,
)
from pegboard.sources.script.client import result_of, unusable_error
from pegboard.sources.script.description import Description

JOB = SandboxJob(command=("x",), environment={"TOKEN": "hunter2222", "SHORT": "a"})


def read(stdout: bytes = b"", *, code: int = 0, stderr: bytes = b"", **said: Any) -> ToolResult:
    made, stopped, size = said.pop("made", None), said.pop("stopped", ""), said.pop("size", None)
    outcome = SandboxOutcome(
        exit_code=code,
        stdout=stdout,
        stderr=stderr,
        stopped=stopped,
        stdout_bytes=len(stdout) if size is None else size,
    )
    description = Description.model_validate({"description": "x", **said})
    return result_of("count", description, JOB, outcome, made=made)


@pytest.mark.parametrize(
    ("stdout", "said", "structured"),
    [
        (b'{"a": 1}\n', {}, {"a": 1}),
        (b"[1]", {}, [1]),
        (b'"x"', {}, "x"),
        (b"\xef\xbb\xbf[1]", {}, [1]),
        (b"", {}, None),
        (b" \n", {}, None),
        (b"plain\n", {"output": "text"}, "plain"),
        (b"\xff", {"output": "text"}, "\ufffd"),
    ],
)
def test_what_is_printed_becomes_the_result(stdout: bytes, said: Any, structured: Any) -> None:
    assert read(stdout, **said).structured == structured


@pytest.mark.parametrize("stdout", [b"secret stuff", b'{"secret stuff": NaN}'])
def test_what_is_not_json_is_the_scripts_fault(stdout: bytes) -> None:
    with pytest.raises(ToolFailed, match="did not print JSON") as caught:
        read(stdout)

    assert "secret" not in str(caught.value)
    assert "secret stuff" in str(caught.value.__cause__)


def test_json_that_was_cut_is_refused() -> None:
    with pytest.raises(ToolFailed, match="printed more than 1000000 bytes"):
        read(b"[1", size=2_000_000)


def test_text_that_was_cut_says_so() -> None:
    assert read(b"abc", size=2_000_000, output="text").text == "abc\n[cut: 2000000 bytes in all]"


@pytest.mark.parametrize(
    ("code", "said", "error"),
    [
        pytest.param(1, {}, ToolFailed, id="any other"),
        pytest.param(64, {}, InvalidRequest, id="usage"),
        pytest.param(65, {}, InvalidRequest, id="data"),
        pytest.param(69, {}, Unavailable, id="unavailable"),
        pytest.param(75, {}, Unavailable, id="later"),
        pytest.param(2, {"exit_codes": {2: "invalid"}}, InvalidRequest, id="as it says"),
        pytest.param(64, {"exit_codes": {64: "failed"}}, ToolFailed, id="otherwise than usual"),
    ],
)
def test_exit_codes_become_errors(code: int, said: Any, error: type[PegboardError]) -> None:
    with pytest.raises(error) as caught:
        read(code=code, **said)

    assert type(caught.value) is error
    assert "'count'" in str(caught.value)


def test_an_exit_code_may_be_fine() -> None:
    assert read(b'"no match"', code=1, exit_codes={1: "ok"}).structured == "no match"


def test_a_signal_is_named() -> None:
    with pytest.raises(ToolFailed, match="was ended by SIGSEGV"):
        read(code=139)


def test_stderr_is_for_the_operator() -> None:
    with pytest.raises(ToolFailed) as caught:
        read(code=1, stderr=b"Traceback: key is hunter2222")

    assert str(caught.value) == "'count' failed with exit code 1."
    assert "Traceback: key is ***" in str(caught.value.__cause__)


def test_stderr_is_shown_where_the_description_says_so_without_secrets() -> None:
    lines = "\n".join(f"line {n}" for n in range(9)) + "\nkey is hunter2222\n"

    with pytest.raises(ToolFailed) as caught:
        read(code=1, stderr=lines.encode(), show_stderr=True)

    assert str(caught.value) == "line 5\nline 6\nline 7\nline 8\nkey is ***"


def test_what_a_script_says_is_cut() -> None:
    with pytest.raises(ToolFailed) as caught:
        read(b'{"error": {"message": "%s"}}' % (b"y" * 5_000), code=1)

    assert str(caught.value) == "y" * 999 + "…"


def test_a_script_may_say_itself_what_everybody_may_read() -> None:
    with pytest.raises(ToolFailed) as caught:
        read(b'{"error": {"message": "Closed on Sundays."}}', code=1, stderr=b"x")

    assert str(caught.value) == "Closed on Sundays."


def test_a_script_may_say_when_to_come_back() -> None:
    with pytest.raises(Unavailable) as caught:
        read(b'{"error": {"message": "Busy.", "retry_after": 5}}', code=75)

    assert (str(caught.value), caught.value.retry_after) == ("Busy.", 5.0)


@pytest.mark.parametrize(
    "stdout",
    [
        b'{"error": "x"}',
        b'{"error": {"message": 3, "retry_after": true}}',
        b'{"error": {"retry_after": -1}}',
        b"[]",
        b"3",
    ],
)
def test_other_answers_of_a_script_that_fails_are_not_shown(stdout: bytes) -> None:
    with pytest.raises(Unavailable) as caught:
        read(stdout, code=75)

    assert str(caught.value) == "'count' is not available now"
    assert caught.value.retry_after is None


@pytest.mark.parametrize(
    ("stopped", "error", "message"),
    [
        ("timeout", ToolTimeout, "did not finish within 30 s"),
        ("memory", ToolFailed, "its limit of 1024 MB"),
        ("cpu", ToolFailed, "more processor time"),
        ("processes", ToolFailed, r"was stopped \(processes\)"),
    ],
)
def test_a_limit_is_named(stopped: str, error: type[PegboardError], message: str) -> None:
    with pytest.raises(error, match=message):
        read(code=137, stopped=stopped)


def test_files_that_a_script_makes_become_artifacts(tmp_path: Path) -> None:
    (tmp_path / "chart.png").write_bytes(b"PNG")
    (tmp_path / "odd.zzz").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()

    result = read(b'{"rows": 2}', made=tmp_path)

    assert [(item.name, item.media_type, item.size, item.data) for item in result.artifacts] == [
        ("chart.png", "image/png", 3, b"PNG"),
        ("odd.zzz", "application/octet-stream", 5, b"12345"),
    ]
    assert result.structured == {"rows": 2}
    assert result.text.splitlines() == [
        '{"rows":2}',
        "[file chart.png, image/png, 3 bytes]",
        "[file odd.zzz, application/octet-stream, 5 bytes]",
    ]


def test_files_without_an_answer_are_an_answer(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x")

    assert read(made=tmp_path).text == "[file a.txt, text/plain, 1 bytes]"


def test_a_script_that_makes_no_file_gives_its_answer(tmp_path: Path) -> None:
    assert read(b"3", made=tmp_path).artifacts == ()


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    for number in range(101):
        (tmp_path / str(number)).touch()

    with pytest.raises(ToolFailed, match="more than 100 files"):
        read(made=tmp_path)


def test_what_cannot_be_used_does_not_ask_to_be_tried_again() -> None:
    error = unusable_error("count", "no program")

    assert isinstance(error, SourceUnavailable)
    assert not error.retryable
