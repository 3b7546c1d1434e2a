import pytest

from pegboard.errors import InvalidRequest, Overloaded
from pegboard.sources.builtin import confined_process
from pegboard.sources.builtin.confined_child import render, to_markdown

PAGE = "<title>T</title><main><p>x</p></main><a href='/a'>b</a><img src='data:,'><script>1</script>"


def test_the_jobs_are_plain_functions() -> None:
    assert render({"template": "{{ a }}", "data": {"a": 1}, "escape": "none"}) == {"text": "1"}
    assert to_markdown({"html": PAGE, "url": "http://a.example/x"}) == {
        "title": "T",
        "text": "x\n\n[b](http://a.example/a)![]()",
        "links": [{"text": "b", "url": "http://a.example/a"}],
    }


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"template": "{{ a", "data": {}, "escape": "none"}, "syntax error"),
        ({"template": "{{ a }}", "data": {"a": "x" * 2_000_001}, "escape": "none"}, "too long"),
    ],
)
def test_a_job_that_fails_on_its_input_says_why(payload, reason) -> None:
    assert reason in render(payload)["error"]


def test_text_nested_too_deep_for_markdown_is_plain_text() -> None:
    page = to_markdown({"html": "<b>" * 400 + "deep", "url": "http://a.example/"})

    assert "deep" in page["text"]


def test_a_base_that_is_no_address_is_ignored() -> None:
    page = to_markdown(
        {"html": "<base href='http://[x'><a href='http://[y'>a</a>b", "url": "http://a.example/"}
    )

    assert (page["text"], page["links"]) == ("ab", [])


async def test_the_process_sees_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_SECRET", "hunter2")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")

    answer = await confined_process.run_confined(
        "render", {"template": "{{ 1 }}", "data": {}, "escape": "none"}
    )

    assert answer == {"text": "1"}


async def test_a_job_that_crashes_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="too much memory or time"):
        await confined_process.run_confined("render", {"template": 1, "data": {}, "escape": "none"})


async def test_without_an_interpreter_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")

    with pytest.raises(Overloaded, match="No process could be started"):
        await confined_process.run_confined(
            "render", {"template": "", "data": {}, "escape": "none"}
        )


def test_a_machine_that_cannot_confine_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert confined_process.unavailable() == ""

    monkeypatch.setattr("sys.executable", "")

    assert "no Python interpreter" in confined_process.unavailable()
