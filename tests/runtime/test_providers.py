"""The services that the settings name, on a board and in the library."""

from pathlib import Path
from typing import Any

import pytest
from tests.network.loopback import always, reply, serving

from pegboard import Pegboard
from pegboard.errors import ConfigError
from pegboard.runtime import Settings
from pegboard.runtime.board_file.models import NetworkEntry
from pegboard.runtime.wiring.providers import create_providers


async def test_a_host_of_the_settings_is_open_to_its_tool_alone(tmp_path: Path) -> None:
    async with serving(always(reply())) as server:
        url = f"http://{server.authority}/hook"
        settings = Settings.from_environment({"PEGBOARD_NOTIFY_URL": url})
        async with Pegboard(settings=settings) as board:
            sent = await board.call("builtin__send_notification", {"message": "done"})
            asked = await board.call("builtin__http_request", {"url": url})
            fetched = await board.call("builtin__web_fetch", {"url": url})

    assert sent.unwrap() == {"sent": True}
    assert "Refused to connect" in asked.text
    assert "Refused to connect" in fetched.text
    assert len(server.requests) == 1


async def test_a_key_that_a_service_repeats_is_masked() -> None:
    key = "tvly-0123456789abcdef"
    answer = f'{{"results": [{{"title": "{key}", "url": "https://a.example"}}]}}'.encode()
    async with serving(always(reply(answer))) as server:
        settings = Settings.from_environment(
            {
                "PEGBOARD_SEARCH_PROVIDER": "tavily",
                "PEGBOARD_SEARCH_URL": f"http://{server.authority}/search",
                "PEGBOARD_SEARCH_KEY": key,
            }
        )
        async with Pegboard(settings=settings) as board:
            found = await board.call("builtin__web_search", {"query": "a"})

    assert not found.is_error
    assert key not in found.text
    assert key not in str(found.structured)


@pytest.mark.parametrize(
    ("url", "access"),
    [
        ("smtps://ada:p%40ss@mail.example.com", ("mail.example.com", 465, "implicit", "p@ss")),
        ("smtp://ada:pass@mail.example.com", ("mail.example.com", 587, "starttls", "pass")),
        ("smtp+plain://localhost:2525", ("localhost", 2525, "none", "")),
    ],
)
def test_a_mail_server_is_read_from_its_address(url: str, access: Any) -> None:
    settings = Settings.from_environment({"PEGBOARD_SMTP_URL": url})

    mail = create_providers(settings, NetworkEntry()).mail

    assert (mail.host, mail.port, mail.tls, mail.password) == access
    assert "pass" not in repr(mail)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SMTP_URL", "mail.example.com"),
        ("SMTP_URL", "https://mail.example.com"),
        ("SMTP_URL", "smtp://ada:hunter2@"),
        ("SMTP_URL", "smtp+plain://ada:hunter2@mail.example.com"),
        ("SMTP_URL", "smtps://ada:hunter2@mail.example.com:99999"),
        ("SMTP_URL", "smtps://ada:hunter2@[mail"),
        ("NOTIFY_URL", "hooks.example/hunter2"),
        ("NOTIFY_URL", "https://ada:hunter2@hooks.example"),
        ("SEARCH_URL", "https://*"),
        ("SEARCH_URL", "https://*.example.com"),
        ("SEARCH_URL", "ftp://search.example"),
        ("IMAGE_URL", "http://"),
    ],
)
def test_an_address_that_cannot_be_read_names_its_setting(name: str, value: str) -> None:
    settings = Settings.from_environment({f"PEGBOARD_{name}": value})

    with pytest.raises(ConfigError, match=f"^PEGBOARD_{name}: ") as caught:
        create_providers(settings, NetworkEntry())

    assert "hunter2" not in str(caught.value)


def test_secrets_are_not_shown() -> None:
    settings = Settings.from_environment(
        {
            "PEGBOARD_SEARCH_KEY": "hunter2",
            "PEGBOARD_IMAGE_KEY": "hunter2",
            "PEGBOARD_NOTIFY_URL": "https://hooks.example/hunter2",
            "PEGBOARD_NOTIFY_TOKEN": "hunter2",
        }
    )

    assert "hunter2" not in repr(create_providers(settings, NetworkEntry()))
