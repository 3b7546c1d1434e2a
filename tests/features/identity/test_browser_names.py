"""What a browser calls itself, in a few words of ours."""

import pytest

from pegboard.features.identity.browser_names import name_browser

WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15"
ANDROID = "Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (f"{WINDOWS} Chrome/126.0.0.0 Safari/537.36", "Chrome on Windows"),
        (f"{WINDOWS} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.87", "Edge on Windows"),
        (f"{MAC} Version/17.5 Safari/605.1.15", "Safari on macOS"),
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
            "Firefox on Linux",
        ),
        (f"{PHONE} FxiOS/127.0 Mobile/15E148 Safari/605.1.15", "Firefox on iOS"),
        (f"{PHONE} Version/17.5 Mobile/15E148 Safari/604.1", "Safari on iOS"),
        (f"{ANDROID} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile", "Samsung Internet on Android"),
        (f"{ANDROID} Chrome/126.0.0.0 Mobile Safari/537.36", "Chrome on Android"),
        ("Gecko on Windows", "Windows"),
        ("Firefox/1", "Firefox"),
        ("curl/8.5.0", ""),
        ("", ""),
        ("<b>Firefox</b>", ""),
        ("x" * 400 + "Firefox/128.0", ""),
    ],
)
def test_a_header_becomes_a_name_of_the_list(user_agent: str, name: str) -> None:
    assert name_browser(user_agent) == name
