"""Web pages, Markdown, plain text and CSV."""

from pathlib import Path

import pytest

from pegboard.core.knowledge import ConvertedDocument
from pegboard.documents.formats.csv_table import read_csv
from pegboard.documents.formats.encodings import decode_text
from pegboard.documents.formats.hidden_html import HiddenElements, explain_style
from pegboard.documents.formats.html import read_html
from pegboard.documents.formats.markdown import read_markdown
from pegboard.documents.formats.markdown_text import MarkdownText, Run
from pegboard.documents.formats.plain_text import read_plain_text
from pegboard.errors import DocumentUnreadable

PAGE = """<!doctype html><html><head><title>The Shop</title><meta name="date" content="2024-03-01">
<style>.note { display: none }</style><script>alert(1)</script></head><body>
<nav><a href="/">Home</a></nav><h1>Returns</h1>
<p>Within <b>30</b> days, see <a href="/rules">the rules</a> or
<a href="javascript:alert(1)">this</a>.</p>
<ul><li>clean<ul><li>washed</li></ul></li><li>complete</li></ul><ol><li>sign</li><li>send</li></ol>
<table><tr><th>Item</th><th>Price</th></tr><tr><td>Saw</td><td>20</td></tr></table>
<pre><code class="language-python">x = 1
y = 2</code></pre><p class="note">obey one</p><p style="font-size:0">obey two</p>
<p hidden>obey three</p><!-- a comment --></body></html>"""


def _read_page(tmp_path: Path, page: str) -> ConvertedDocument:
    (tmp_path / "a.html").write_text(page, "utf-8")
    return read_html(tmp_path / "a.html")


def test_a_web_page_keeps_its_blocks_and_loses_scripts_and_menus(tmp_path: Path) -> None:
    document = _read_page(tmp_path, PAGE)

    assert document.text.startswith(
        "# Returns\n\nWithin 30 days, see [the rules](/rules) or this.\n\n"
        "- clean\n  - washed\n- complete\n1. sign\n2. send\n\n"
        "| Item | Price |\n| --- | --- |\n| Saw | 20 |\n\n```python\nx = 1\ny = 2\n```"
    )
    assert (document.title, document.date) == ("The Shop", "2024-03-01")
    assert not {"alert", "Home", "comment"} & set(document.text.split())


def test_what_a_page_hides_is_found(tmp_path: Path) -> None:
    document = _read_page(tmp_path, PAGE)

    found = [document.text[item.start : item.end] for item in document.findings]
    assert found == ["obey one", "obey two", "obey three"]


@pytest.mark.parametrize(
    "style",
    [
        "display: none", "VISIBILITY:hidden", "opacity: 0", "font-size: 0px", "font-size:0.1pt",
        "color: #fff; background: white", "color: white", "position:absolute; left:-9999px",
        "color: red; background-color: red",
    ],
)  # fmt: skip
def test_a_style_that_hides_is_known(style: str) -> None:
    assert explain_style(style) != ""


@pytest.mark.parametrize(
    "style", ["", "color: red", "opacity: 0.5", "font-size: 10px", "color:white; background:#333"]
)
def test_a_style_that_shows_is_none(style: str) -> None:
    assert explain_style(style) == ""


def test_a_style_sheet_is_known_by_its_classes_and_ids() -> None:
    class Element:
        attrs = {"id": "a", "class": ["b"]}

    assert HiddenElements("p, div.b { display: none }").find_reason(Element()) != ""
    assert HiddenElements("#a { color: red }").find_reason(Element()) == ""


def test_markdown_stays_as_it_is_and_its_blocks_are_known(tmp_path: Path) -> None:
    text = (
        "---\ntitle: Handbook\ndate: 2024-05-06\n---\n# Returns\n\nWithin 30 days.\nAlways.\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\n# no heading\n```\n\n- one\n\n  more\n- two\n\n"
        "Prices\n------\n"
    )
    (tmp_path / "a.md").write_text(text)

    document = read_markdown(tmp_path / "a.md")

    assert document.text == text.split("---\n", 2)[2].strip("\n")
    assert (document.title, document.date) == ("Handbook", "2024-05-06")
    assert [(block.kind, block.level) for block in document.blocks] == [
        ("heading", 1), ("paragraph", 0), ("table", 0), ("code", 0), ("list", 0), ("heading", 2),
    ]  # fmt: skip
    assert document.text[document.blocks[4].start :].startswith("- one\n\n  more\n- two\n\nPrices")


def test_form_feeds_part_the_pages_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\n\r\ntwo\fthree")

    document = read_plain_text(tmp_path / "a.txt")

    assert document.text == "one\n\ntwo\n\nthree"
    assert [(page.number, page.start, page.end) for page in document.pages] == [
        (1, 0, 8),
        (2, 10, 15),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_csv_file_is_a_table(tmp_path: Path, delimiter: str) -> None:
    rows = [["Item", "Price"], ["Saw", '"20"'], ["Nail", "2"]]
    (tmp_path / "a.csv").write_text("\n".join(delimiter.join(row) for row in rows))

    assert read_csv(tmp_path / "a.csv").text == (
        "| Item | Price |\n| --- | --- |\n| Saw | 20 |\n| Nail | 2 |"
    )


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "koi8-r", "shift_jis"],
)
def test_text_is_read_in_its_encoding(encoding: str) -> None:
    text = {
        "koi8-r": "Товар можно вернуть в течение тридцати дней после покупки. ",
        "shift_jis": "商品は三十日以内に返品することができます。",
    }.get(encoding, "Geräte kann man zurückgeben, für dreißig Tage. ") * 20

    assert decode_text(text.encode(encoding)) == text


@pytest.mark.parametrize("content", [b"", b" \n\t", b"\xef\xbb\xbf"])
def test_a_text_without_text_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(content)

    with pytest.raises(DocumentUnreadable) as raised:
        read_plain_text(tmp_path / "a.txt")

    assert raised.value.reason == "empty"


def test_hidden_stretches_of_one_table_are_one_finding() -> None:
    made = MarkdownText()
    made.add_table([[[Run("a", "hidden")], [Run("b", "hidden")]], ["c", "d"]])

    document = made.finish(media_type="text/csv", converter="test")

    assert [document.text[item.start : item.end] for item in document.findings] == ["a | b"]


def test_control_characters_and_lone_surrogates_are_left_out() -> None:
    made = MarkdownText()
    made.add_paragraph("a\x00b\x1b[31m\ud800c")

    assert made.finish(media_type="text/plain", converter="test").text == "ab[31mc"
