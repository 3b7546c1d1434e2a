"""The Containerfile fits the tree that it is built from."""

import re
from fnmatch import fnmatch

from tests.docs.pages import DOCS, ROOT

FILE = (ROOT / "Containerfile").read_text(encoding="utf-8")
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()


def test_what_is_copied_exists_and_is_in_the_context() -> None:
    copied = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", FILE, re.MULTILINE)
        for source in line.split()[:-1]
    ]
    sent = [pattern[1:] for pattern in IGNORED if pattern.startswith("!")]

    assert copied
    assert [each for each in copied if not (ROOT / each).exists()] == []
    assert [each for each in copied if each.split("/")[0] not in sent] == []
    assert IGNORED[0] == "*"
    assert fnmatch("src/__pycache__", IGNORED[-1])


def test_it_installs_by_hash_and_runs_without_root() -> None:
    installs = re.findall(r"pip install (.+)$", FILE, re.MULTILINE)

    assert installs == [
        "--require-hashes -r /build/requirements.txt",
        "--no-deps --no-build-isolation /build",
    ]
    assert re.findall(r"^USER (.+)$", FILE, re.MULTILINE) == ["10001"]


def test_the_page_names_the_base_and_the_user_of_the_image() -> None:
    page = (DOCS / "how-to" / "run-in-a-container.md").read_text(encoding="utf-8")
    (base,) = re.findall(r"^ARG BASE=(.+)$", FILE, re.MULTILINE)

    assert f"`{base}`" in page
    assert "`pegboard`, 10001" in page
