"""Configuration of credentials, and checks of what a request cannot carry."""

import re
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)

from pegboard.core.ports.http import SET_BY_CLIENT
from pegboard.tools.call_headers import check_text

_MODEL = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
_ALIASED: ConfigDict = {**_MODEL, "validate_by_name": True, "validate_by_alias": True}
_BREAK = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_HEADER = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"


def check_one_line(secret: SecretStr) -> SecretStr:
    """Refuse control characters: a file with a token often ends in a line break."""
    if _BREAK.search(secret.get_secret_value()):
        raise ValueError(
            "it has a line break or control character, perhaps at its end; leave it out"
        )
    return secret


def check_placeholders(secret: SecretStr) -> SecretStr:
    """Refuse `{call.NAME}` where a call has no such value."""
    check_text(secret.get_secret_value())
    return secret


def header_problem(header: str) -> str:
    """Return why no request can carry a header of this name; empty if one can."""
    if header.lower() in SET_BY_CLIENT:
        return "the client sets this header itself"
    return "" if re.fullmatch(_HEADER, header) else "no header can have this name"


def _check_header_name(header: str) -> str:
    if header.lower() in SET_BY_CLIENT:
        raise ValueError("the client sets this header itself; leave it out")
    return header


HeaderName = Annotated[str, Field(pattern=_HEADER), AfterValidator(_check_header_name)]
_Secret = Annotated[SecretStr, Field(min_length=1), AfterValidator(check_one_line)]


class NoCredential(BaseModel):
    """Send no credential, even where the document asks for one."""

    model_config = _MODEL
    kind: Literal["none"]


class _Credential(BaseModel):
    model_config = _MODEL
    scheme: Annotated[
        str,
        Field(
            description="The security scheme of the document that this is for; empty for every "
            "scheme that fits, `*` for every scheme"
        ),
    ] = ""


class BearerCredential(_Credential):
    """`Authorization: Bearer ...`."""

    kind: Literal["bearer"]
    token: Annotated[_Secret, Field(description='The token, as "${ORDERS_TOKEN}"')]


class ApiKeyCredential(_Credential):
    """An API key in a header, in the query or in a cookie."""

    model_config = _ALIASED
    kind: Literal["api_key"]
    key: Annotated[_Secret, Field(description='The key, as "${ORDERS_KEY}"')]
    name: Annotated[
        str, Field(description="Of header, parameter or cookie; empty: the name in the document")
    ] = ""
    location: Annotated[
        Literal["header", "query", "cookie"] | None,
        Field(alias="in", description="Where it is sent; empty: the location in the document"),
    ] = None

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        reason = header_problem(self.name) if self.name and self.location == "header" else ""
        if reason:
            raise ValueError(
                f"name: '{self.name[:100]}': {reason}; write the header that the API reads its key "
                "from, such as X-API-Key"
            )
        return self


class BasicCredential(_Credential):
    """`Authorization: Basic ...`."""

    kind: Literal["basic"]
    username: str
    password: SecretStr


Auth = Annotated[
    NoCredential | BearerCredential | ApiKeyCredential | BasicCredential,
    Field(discriminator="kind"),
]
