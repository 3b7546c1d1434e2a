"""Configuration of credentials, and checks of what a request cannot carry."""

import re
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

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


def _check_url(url: str) -> str:
    parts = urlsplit(url)
    if url and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.fragment):
        raise ValueError("write an address as https://auth.example/token")
    return url


_Url = Annotated[str, AfterValidator(_check_url)]


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


class OAuthConfig(BaseModel):
    """How callers get a token: by consent, or as clients with an id and a secret of their own."""

    model_config = _MODEL
    token_url: Annotated[_Url, Field(description="The token endpoint")]
    authorization_url: Annotated[
        _Url, Field(description="Where a caller consents; empty: callers are clients themselves")
    ] = ""
    client_id: Annotated[str, Field(description="Of this board, where callers consent")] = ""
    client_secret: Annotated[
        _Secret | None, Field(description='Its secret, as "${CLIENT_SECRET}"; empty for none')
    ] = None
    scopes: tuple[str, ...] = ()
    issuer: Annotated[
        str, Field(description="What `iss` of the answer must be; empty where none is sent")
    ] = ""
    userinfo_url: Annotated[
        _Url, Field(description="Tells whose account a token is for; empty: nobody asks")
    ] = ""

    @model_validator(mode="after")
    def _has_client(self) -> Self:
        if self.authorization_url and not self.client_id:
            raise ValueError("authorization_url needs a client_id: register this board there")
        if self.client_id and not self.authorization_url:
            raise ValueError("client_id goes with authorization_url; a caller has its own")
        return self


class CallerCredential(_Credential):
    """The credential that the caller of a tool has stored for this source, or that is shared."""

    model_config = _ALIASED
    kind: Literal["caller"]
    sends: Annotated[Literal["bearer", "api_key", "basic"], Field(description="How it is sent")] = (
        "bearer"
    )
    name: Annotated[
        str,
        Field(
            description="Of an API key: its header, parameter or cookie; empty: as in the document"
        ),
    ] = ""
    location: Annotated[
        Literal["header", "query", "cookie"] | None,
        Field(alias="in", description="Of an API key; empty: the location in the document"),
    ] = None
    oauth: Annotated[
        OAuthConfig | None, Field(description="Where tokens come from, beside those of callers")
    ] = None

    @model_validator(mode="after")
    def _fits_what_it_sends(self) -> Self:
        if self.sends != "api_key" and (self.name or self.location):
            raise ValueError("`name` and `in` go with `sends: api_key`")
        if self.sends != "bearer" and self.oauth is not None:
            raise ValueError("`oauth` goes with `sends: bearer`")
        if self.name and self.location == "header" and (why := header_problem(self.name)):
            raise ValueError(f"name: '{self.name[:100]}': {why}")
        return self


Auth = Annotated[
    NoCredential | BearerCredential | ApiKeyCredential | BasicCredential | CallerCredential,
    Field(discriminator="kind"),
]
