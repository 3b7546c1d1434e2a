"""What of an account its person may not change: a password kept elsewhere, a name that hides."""

from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.features.identity.made import Server
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House

from pegboard.core.ports.authenticator import BrowserSession
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, InvalidRequest
from pegboard.features.identity.own_account import NewPassword


async def test_an_account_without_a_password_here_gets_none(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        await House(board).found()
        (ada,) = await board.identity.parts.store.users()
        await board.identity.parts.store.update_user(ada.id, {"password": ""})

        with pytest.raises(AccessDenied, match="you sign in elsewhere"):
            await board.identity.own.change_password(
                NewPassword(current="", new="a password of today"),
                session=BrowserSession(cookie="c", csrf="t", expires=0.0),
                address="127.0.0.1",
                principal=Principal(id=ada.id, user=ada.id),
            )


async def test_a_name_hides_no_characters(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob")

    with pytest.raises(InvalidRequest, match=r"direction of the text: U\+202E"):
        await server.identity.own.rename("ada\u202e", principal=bob)
    with pytest.raises(InvalidRequest, match=r"U\+200B"):
        await server.identity.own.rename("ada\u200b", principal=bob)
