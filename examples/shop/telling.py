"""How the demo speaks: titles, and lines that fit."""


def headline(text: str) -> None:
    """A title between the parts."""
    print(f"\n{text}\n{'=' * len(text)}", flush=True)


def tell(text: str) -> None:
    """A sentence of the story."""
    print(f"\n{text}", flush=True)


def show(text: str, *, width: int = 120) -> None:
    """What a program said, indented and cut."""
    for line in text.rstrip().splitlines():
        print(f"    {cut(line, width)}".rstrip(), flush=True)


def cut(text: str, width: int) -> str:
    """A line that fits."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
