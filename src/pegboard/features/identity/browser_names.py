"""Names the browser and the system of a `User-Agent` header, from fixed lists."""

_MAX_LENGTH = 400
"""Characters of the header that are read."""

_BROWSERS = (  # the first mark that is there decides: most browsers name others too
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi/", "Vivaldi"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Chromium/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def name_browser(user_agent: str) -> str:
    """The browser and system, such as `Firefox on Linux`; empty for a header that names neither.

    Args:
        user_agent: The header. Its text never becomes part of the answer.
    """
    text = user_agent[:_MAX_LENGTH]
    browser = _find(_BROWSERS, text)
    system = _find(_SYSTEMS, text)
    return f"{browser} on {system}" if browser and system else browser or system


def _find(names: tuple[tuple[str, str], ...], text: str) -> str:
    return next((name for mark, name in names if mark in text), "")
