"""Output of the demo: headlines, paragraphs and indented lines."""


def headline(text: str) -> None:
    """Print a title between two parts."""
    print(f"\n{text}\n{'=' * len(text)}", flush=True)


def say(text: str) -> None:
    """Print a paragraph."""
    print(f"\n{text}", flush=True)


def show(text: str, *, width: int = 120) -> None:
    """Print the output of a program, indented and cut."""
    for line in text.rstrip().splitlines():
        print(f"    {cut(line, width)}".rstrip(), flush=True)


def cut(text: str, width: int) -> str:
    """Cut a line that is too long."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
