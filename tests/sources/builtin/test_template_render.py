import asyncio
from typing import Any

import psutil
import pytest

from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.tools.template_render import template_render


@pytest.mark.parametrize(
    ("template", "data", "expected"),
    [
        ("Hello {{ name }}!", {"name": "Ünï"}, "Hello Ünï!"),
        ("{% for i in items %}\n- {{ i.n | upper }}\n{% endfor %}\n", {"items": [{"n": "a"}]},
         "- A\n"),
        ("{{ x | default('-') }}{% if y %}!{% endif %}", {"y": True}, "-!"),
        ("{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m(1) }}", {}, "<1>"),
        ("{{ v }}", {"v": "<b>"}, "<b>"),
        ("{{ v }}", {"v": "{{ 1 + 1 }}"}, "{{ 1 + 1 }}"),
        ("{{ name }} {{ source }}", {"name": 1, "source": 2}, "1 2"),
    ],
)  # fmt: skip
async def test_a_template_is_filled(template: str, data: dict[str, Any], expected: str) -> None:
    assert await template_render(template, data=data) == expected


async def test_data_is_escaped_for_html_on_request() -> None:
    assert await template_render("{{ v }}", data={"v": "<b>"}, escape="html") == "&lt;b&gt;"


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("a\n{{ nobody }}", r"undefined value \(in line 2\)"),
        ("{% if %}", "syntax error"),
        ("{{ x", "syntax error"),
        ("{% include '/etc/passwd' %}", "template not found"),
        ("{% import 'os' as os %}", "template not found"),
        ("{{ debug() }}", "unknown function"),
        ("{{ ''.__class__ }}", "undefined value"),
        ("{{ {}.__init__.__globals__ }}", "undefined value"),
        (
            "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
            "fuel",
        ),
        ("{{ range(10000000) }}", "too many elements"),
        ("{% for i in range(3000) %}{{ 'x' * 1000 }}{% endfor %}", "too long"),
    ],
)
async def test_what_cannot_be_rendered_says_why(template: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        await template_render(template)


@pytest.mark.slow
@pytest.mark.parametrize(
    "template",
    [
        "{% set x='a' %}" + "{% set x=x~x %}" * 40 + "{{ x|length }}",
        "{{ 'a'" + "|replace('a','aaaaaaaaaa')" * 12 + "|length }}",
        "{{ range(100000)|join('x'*100000)|length }}",
        "{{ '%9999999999d'|format(1) }}",
    ],
    ids=["doubling", "replacing", "joining", "padding"],
)
@pytest.mark.timeout(30)
async def test_a_template_that_would_eat_all_memory_is_stopped(template: str) -> None:
    with pytest.raises(InvalidRequest, match=r"too much memory|too long|cannot be rendered"):
        await template_render(template)


async def test_no_process_is_left_when_a_render_is_cancelled() -> None:
    slow = "{% for i in range(99999) %}{% for j in range(19) %}{{ j }}{% endfor %}{% endfor %}"
    before = set(psutil.Process().children())
    task = asyncio.create_task(template_render(slow))
    while not (started := set(psutil.Process().children()) - before):  # noqa: ASYNC110 - no event tells it
        await asyncio.sleep(0.01)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert len(started) == 1
    assert not any(child.is_running() for child in started)


async def test_renders_run_beside_each_other() -> None:
    jobs = [template_render("{{ n }}", data={"n": number}) for number in range(4)]

    results = [await job for job in asyncio.as_completed(jobs)]

    assert sorted(results) == ["0", "1", "2", "3"]
