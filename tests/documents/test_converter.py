"""Files become text in the sandbox, each in a process of its own."""

from pathlib import Path

import pytest
from tests.documents import files

from pegboard.core.ports.sandbox import SandboxLimits
from pegboard.documents import SandboxConverter
from pegboard.errors import DocumentUnreadable, Unavailable
from pegboard.sandbox import ProbedSandbox


@pytest.fixture(scope="module")
def sandbox() -> ProbedSandbox:
    return ProbedSandbox()


@pytest.fixture
async def converter(sandbox: ProbedSandbox) -> SandboxConverter:
    made = SandboxConverter(sandbox)
    reason = await made.why_unavailable()
    if reason:
        pytest.skip(reason)
    return made


async def test_a_pdf_becomes_markdown_with_its_pages(
    converter: SandboxConverter, tmp_path: Path
) -> None:
    file = files.make_pdf(
        tmp_path / "a.pdf",
        [files.heading("Returns"), files.paragraph("Within 30 days. " * 20)],
        [files.heading("Prices", 2), files.table(*files.PRICES)],
    )

    document = await converter.convert(file)
    picture = await converter.render_page(file, 2, width=200)

    first, second = (document.text[page.start : page.end] for page in document.pages)
    assert first.startswith("# Returns\n\nWithin 30 days.")
    assert second.endswith("| Item | Price |\n| --- | --- |\n| Hammer | 12.50 |\n| Saw | 20.00 |")
    assert (document.receipt.pages_in, document.receipt.pages_out) == (2, 2)
    assert picture.startswith(b"\x89PNG")


async def test_a_file_that_cannot_be_read_says_why(
    converter: SandboxConverter, tmp_path: Path
) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(b"%PDF-1.7\nnothing more")

    with pytest.raises(DocumentUnreadable) as raised:
        await converter.convert(file, name="a.pdf")

    assert raised.value.reason == "broken"


async def test_a_file_that_takes_too_long_is_given_up(
    sandbox: ProbedSandbox, converter: SandboxConverter, tmp_path: Path
) -> None:
    file = tmp_path / "a.md"
    file.write_text("text")
    hasty = SandboxConverter(sandbox, limits=SandboxLimits(timeout=0.001, output_bytes=1000))

    with pytest.raises(DocumentUnreadable) as raised:
        await hasty.convert(file)

    assert raised.value.reason == "too_large"


async def test_without_a_sandbox_no_file_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("text")
    converter = SandboxConverter(ProbedSandbox(allowed=[]))

    assert "back_ends" in await converter.why_unavailable()
    with pytest.raises(Unavailable):
        await converter.convert(file)
