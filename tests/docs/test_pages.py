"""Every block of the documentation works."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.pages import ROOT, fences, fences_of, generated_pages, pages
from tests.docs.runner import Page
from tests.docs.warm_commands import warm_commands
from yaml import YAMLError

from pegboard.errors import ConfigError

COLD = {ROOT / "README.md"}
"""Pages whose commands start as a reader starts them."""


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with warm_commands(tmp_path_factory.mktemp("warm")) as folder:
        yield folder


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Path
) -> None:
    with Page(tmp_path, monkeypatch, warm=None if page in COLD else warm) as run:
        for fence in fences(page):
            run.run(fence)


def test_every_python_block_of_the_reference_compiles() -> None:
    blocks = [fence for page in generated_pages() for fence in fences(page)]

    for fence in blocks:
        if fence.language == "python":
            compile(fence.body, str(fence), "exec", flags=0x2000)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    with Page(tmp_path, monkeypatch) as run:
        yield run


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```python\nraise ValueError\n```", id="python that raises"),
        pytest.param("```bash\nfalse\n```", id="a command that fails"),
        pytest.param("<!-- exit: 3 -->\n```bash\nexit 2\n```", id="another exit code"),
        pytest.param("```console\nno prompt\n```", id="a console without a command"),
        pytest.param("```console\n$ echo one\ntwo\n```", id="another answer than is shown"),
        pytest.param("```json\n{,}\n```", id="broken JSON"),
        pytest.param("```toml\n= 1\n```", id="broken TOML"),
        pytest.param("```yaml\na: [\n```", id="broken YAML"),
        pytest.param("```yaml\nsources: 3\n```", id="a board that is none"),
        pytest.param("```yaml\nsources: [{knd: sql}]\n```", id="a board with a misspelt key"),
        pytest.param("```cobol\nSTOP RUN.\n```", id="a language that nobody runs"),
        pytest.param("<!-- not run: no -->\n```bash\nfalse\n```", id="no reason"),
        pytest.param("<!-- skip: because -->\n```bash\ntrue\n```", id="an unknown mark"),
        pytest.param(
            "<!-- background: http://127.0.0.1:8321/ -->\n```console\n$ false\n```",
            id="a server that ends at once",
        ),
    ],
)
def test_a_block_that_does_not_work_fails(text: str, page: Page) -> None:
    (fence,) = fences_of(text)

    with pytest.raises((AssertionError, ValueError, YAMLError, ConfigError)):
        page.run(fence)


def test_a_block_with_a_reason_is_not_run(page: Page) -> None:
    (fence,) = fences_of("<!-- not run: it would never come back -->\n\n```bash\nfalse\n```")

    page.run(fence)


def test_what_varies_in_an_answer_is_left_open(page: Page) -> None:
    (fence,) = fences_of("```console\n$ echo 'took   17 ms'; echo >&2 more\ntook ... ms\n...\n```")

    page.run(fence)


def test_a_block_is_not_run_where_its_program_is_missing(page: Page) -> None:
    (fence,) = fences_of("<!-- needs: no-such-program -->\n\n```bash\nfalse\n```")

    page.run(fence)


def test_a_server_runs_beside_later_blocks_and_ends_with_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve, ask = fences_of("""
<!-- background: http://127.0.0.1:8321/ -->
```console
$ python -m http.server --bind 127.0.0.1 8321
```

```bash
python -c "from urllib.request import urlopen; urlopen('http://127.0.0.1:8321/')"
```
""")
    with Page(tmp_path, monkeypatch) as page:
        page.run(serve)
        page.run(ask)

    with Page(tmp_path / "again", monkeypatch) as page, pytest.raises(AssertionError):
        page.run(ask)


def test_later_blocks_find_the_file_that_an_earlier_one_saved(page: Page) -> None:
    text = """
<!-- file: shop.py -->
```python
price = 3
```

```python
import shop

assert shop.price == 3
```

```console
$ python -c "import shop; assert shop.price == 3"
```
"""
    for fence in fences_of(text):
        page.run(fence)


def test_a_board_that_takes_a_value_from_the_environment_is_read(page: Page) -> None:
    (fence,) = fences_of("```yaml\nsources: [{kind: sql, config: {url: '${URL}'}}]\n```")

    page.run(fence)


def test_python_blocks_do_not_see_each_other(page: Page) -> None:
    first, second = fences_of("```python\nx = 1\nopen('f', 'w').close()\n```\n\n```python\nx\n```")
    page.run(first)

    with pytest.raises(NameError):
        page.run(second)


def test_a_mark_counts_only_for_the_block_below_it() -> None:
    block = "```python\n```\n\n"
    text = f"<!-- file: a.py -->\n{block}{block}<!-- exit: 1 -->\n\nProse.\n\n{block}"

    assert [fence.marks for fence in fences_of(text)] == [{"file": "a.py"}, {}, {}]
