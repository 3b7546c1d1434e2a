"""Files become text in the sandbox, each in a process of its own."""

from pathlib import Path

import pytest
from tests.documents import files

from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.knowledge.picture_reader import PictureText
from pegboard.core.ports.sandbox import (
    CodeJob,
    CodeOutcome,
    SandboxJob,
    SandboxLimits,
    SandboxOutcome,
)
from pegboard.core.principal import LOCAL
from pegboard.documents import SandboxConverter
from pegboard.errors import ConfigError, DocumentUnreadable, Unavailable
from pegboard.execution.limits.model_costs import ModelCosts
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


@pytest.mark.slow
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


class Reader:
    """A vision model that reads the same in every picture."""

    name = "test:eyes"

    def __init__(self, text: str = "Seen text.") -> None:
        self.text = text
        self.pictures: list[bytes] = []

    async def read_picture(
        self, picture: bytes, /, *, media_type: str = "image/png"
    ) -> PictureText:
        self.pictures.append(picture)
        usage = ModelUsage(requests=1, input_tokens=1000, cost=0.01)
        return PictureText(self.text, usage)


@pytest.mark.slow
async def test_pictures_and_scanned_pages_are_read_by_a_vision_model(
    converter: SandboxConverter, tmp_path: Path
) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(files.make_png())
    scan = files.draw_pdf(tmp_path / "a.pdf", lambda canvas: canvas.drawImage(str(picture), 0, 0))
    reader = Reader()

    with pytest.raises(DocumentUnreadable) as raised:
        await converter.convert(picture)
    converter.find_reader = lambda: reader
    of_picture = await converter.convert(picture, name="a.png")
    costs = ModelCosts(None, LOCAL)
    of_scan = await converter.convert(scan, counter=costs)

    assert raised.value.reason == "no_vision_model"
    assert (of_picture.text, of_picture.media_type) == ("Seen text.", "image/png")
    assert (of_scan.text, of_scan.receipt.gaps) == ("Seen text.", ())
    assert of_scan.converter.endswith("test:eyes")
    assert (costs.model, costs.usage.input_tokens, costs.usage.cost) == ("test:eyes", 1000, 0.01)
    assert all(item.startswith(b"\x89PNG") for item in reader.pictures)


async def test_a_vision_model_that_cannot_be_used_ends_pictures_alone(
    converter: SandboxConverter, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("Some text.")
    (tmp_path / "a.png").write_bytes(files.make_png())

    def find_reader() -> None:
        raise ConfigError("A vision model is named 'provider:name'.")

    converter.find_reader = find_reader

    assert (await converter.convert(tmp_path / "a.md")).text == "Some text."
    with pytest.raises(ConfigError):
        await converter.convert(tmp_path / "a.png")


async def test_a_picture_in_which_nothing_is_written_is_empty(
    converter: SandboxConverter, tmp_path: Path
) -> None:
    (tmp_path / "a.png").write_bytes(files.make_png())
    converter.find_reader = lambda: Reader(" ")

    with pytest.raises(DocumentUnreadable) as raised:
        await converter.convert(tmp_path / "a.png")

    assert raised.value.reason == "empty"


async def test_a_file_that_takes_too_much_memory_is_given_up(
    sandbox: ProbedSandbox, converter: SandboxConverter, tmp_path: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"some words " * 6_000_000)
    small = SandboxConverter(sandbox, limits=SandboxLimits(memory_bytes=80 << 20))

    with pytest.raises(DocumentUnreadable) as raised:
        await small.convert(file)

    assert raised.value.reason == "too_large"


class FakeSandbox:
    """Ends each process as it is told."""

    def __init__(self, outcome: SandboxOutcome) -> None:
        self.outcome = outcome
        self.jobs: list[SandboxJob] = []

    async def why_no_commands(self, *, network: bool = False) -> str:
        return ""

    async def why_no_code(self) -> str:
        return ""

    async def run(self, job: SandboxJob) -> SandboxOutcome:
        self.jobs.append(job)
        return self.outcome

    async def run_code(self, job: CodeJob) -> CodeOutcome:
        raise NotImplementedError

    async def close(self) -> None:
        return None


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (SandboxOutcome(exit_code=139), "broken"),
        (SandboxOutcome(exit_code=0, stdout=b"no JSON"), "broken"),
        (SandboxOutcome(exit_code=0, stdout=b'{"type":"drawn","picture":""}'), "broken"),
        (SandboxOutcome(exit_code=137, stopped="memory"), "too_large"),
        (SandboxOutcome(exit_code=137, stopped="cpu"), "too_large"),
        (SandboxOutcome(exit_code=0, stdout=b"{", stdout_bytes=1 << 40), "too_large"),
    ],
)
async def test_how_a_process_ends_says_what_is_wrong_with_its_file(
    outcome: SandboxOutcome, reason: str
) -> None:
    with pytest.raises(DocumentUnreadable) as raised:
        await SandboxConverter(FakeSandbox(outcome)).convert(Path("/a.md"))

    assert raised.value.reason == reason


async def test_a_process_sees_its_file_and_the_libraries_and_no_network() -> None:
    sandbox = FakeSandbox(
        SandboxOutcome(exit_code=0, stdout=b'{"type":"missing","library":"docx"}')
    )

    with pytest.raises(Unavailable, match=r"docx is not installed.*pegboard\[knowledge\]"):
        await SandboxConverter(sandbox).convert(Path("/data/a.docx"))

    (job,) = sandbox.jobs
    assert job.readable[0] == Path("/data/a.docx")
    assert (job.writable, job.network, job.environment) == ((), False, {})
    assert Path("/data") not in job.readable


async def test_a_file_is_named_by_its_whole_path() -> None:
    with pytest.raises(ValueError, match="whole path"):
        await SandboxConverter(FakeSandbox(SandboxOutcome(exit_code=0))).convert(Path("a.md"))


async def test_without_a_sandbox_no_file_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("text")
    converter = SandboxConverter(ProbedSandbox(allowed=[]))

    assert "back_ends" in await converter.why_unavailable()
    with pytest.raises(Unavailable):
        await converter.convert(file)
