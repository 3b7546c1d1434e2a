"""The language models of a board."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from msgspec import DecodeError, Struct, json

from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.http import HttpClient, HttpRequest
from pegboard.core.ports.knowledge.picture_reader import PictureReader
from pegboard.core.ports.knowledge.reranker import Reranker
from pegboard.core.principal import Principal
from pegboard.core.tool import Limits
from pegboard.errors import InvalidRequest, ModelNotConfigured
from pegboard.execution.limits.limiters import Limiter
from pegboard.runtime.board_file.language_models import LanguageModelEntry, LanguageModels
from pegboard.runtime.board_file.models import Board
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.services import create_http_client

if TYPE_CHECKING:
    from pegboard.features.agents import ModelChoice, ModelChoices
    from pegboard.models import ModelEndpoint
    from pegboard.runtime.wiring.accounts.stored_models import StoredModels

MISSING = (
    "No language model is configured. Set PEGBOARD_MODEL=provider:name (as openai:gpt-5.2, with "
    "OPENAI_API_KEY), or OPENAI_BASE_URL for a server that speaks OpenAI's API."
)
_BASE_URLS = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
_KEYS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "cohere": "COHERE_API_KEY",
    "jina": "JINA_API_KEY",
}
_MOST_NAMES = 10


class BoardModels:
    """The models that a board uses; each is made at its first use.

    Roles come from the settings, else from the board file. A model stays the same one, with the
    state of its limits, for as long as a reload leaves its entry unchanged.

    Args:
        settings: The roles.
        environ: Keys and addresses of providers.
        board: The board file in force. Addresses in it, or in the environment, are allowed.
        stack: Closes the connections.
        own: The model that the program has given for all roles; None for those of the settings.
        stored: Those that people have added; None for none.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        environ: Mapping[str, str],
        board: Callable[[], Board] = Board,
        stack: AsyncExitStack,
        own: ChatModel | None = None,
        stored: "StoredModels | None" = None,
    ) -> None:
        self._stored = stored
        self._settings = settings
        self._environ = environ
        self._board = board
        self._own = own
        self._made: dict[tuple[str, LanguageModelEntry | None], ChatModel] = {}
        self._embedders: dict[tuple[str, LanguageModelEntry | None], Embedder] = {}
        self._picture_readers: dict[tuple[str, LanguageModelEntry | None], PictureReader] = {}
        self._rerankers: dict[tuple[str, LanguageModelEntry | None], Reranker] = {}
        self._clients: dict[tuple[str, ...], HttpClient] = {}
        stack.push_async_callback(self.close)

    @property
    def is_configured(self) -> bool:
        """Whether an agent that names no model has one, as far as the settings tell."""
        return bool(self._own or self._smart or self._environ.get("OPENAI_BASE_URL"))

    @property
    def choices(self) -> "ModelChoices":
        """The models that callers may choose: those of roles, and those with a name."""
        from pegboard.features.agents import ModelChoices

        if self._stored is None:
            return ModelChoices(lambda: [*self._list_choices()])
        return ModelChoices(lambda: [*self._list_choices()], self._stored.list_choices)

    def _list_choices(self) -> "Iterator[ModelChoice]":
        from pegboard.features.agents import ModelChoice

        section, own = self._section, self._own
        smart = fast = ""
        if own is not None:
            provider = own.name.partition(":")[0] if ":" in own.name else ""
            yield ModelChoice(
                name="smart",
                title=own.name,
                provider=provider,
                role="smart",
                aliases=("fast", own.name),
            )
        elif self.is_configured:
            smart = self._with_provider(self._smart)
            fast = self._with_provider(self._settings.fast_model or section.fast or "")
            fast = fast if fast != smart else ""
            yield self._choose_role("smart", smart, *(() if fast else ("fast",)))
            if fast:
                yield self._choose_role("fast", fast)
        embed = self._settings.embed_model or section.embed
        for name in section.named:
            if name not in {smart, fast, embed, self._vision, self._rerank}:
                yield self._choose_named(name)

    def _choose_role(
        self, role: Literal["smart", "fast"], name: str, *aliases: str
    ) -> "ModelChoice":
        from pegboard.features.agents import ModelChoice

        if name in self._section.named:
            known = self._choose_named(name)
            return replace(known, role=role, aliases=(role, *aliases))
        provider, _, own = name.partition(":")
        setting = self._settings.model if role == "smart" else self._settings.fast_model
        names = [name, setting or ""]
        return ModelChoice(
            name=role,
            title=own or "The model of the server",
            provider=provider or "openai",
            role=role,
            aliases=(*aliases, *filter(None, names)),
        )

    def _choose_named(self, name: str) -> "ModelChoice":
        from pegboard.features.agents import ModelChoice

        entry = self._section.named[name]
        provider = entry.model.partition(":")[0]
        return ModelChoice(name=name, title=entry.title or name, provider=provider)

    async def close(self) -> None:
        """Close the connections to providers."""
        if self._stored is not None:
            await self._stored.close()
        for client in self._clients.values():
            await client.close()

    async def get(self, name: str = "") -> ChatModel:
        """The model of a role (`smart`, `fast`), of a name in the board file, or `provider:name`.

        Args:
            name: Empty for the smart one.

        Raises:
            ModelNotConfigured: There is none, or the server at the base URL has several.
            ConfigError: There is no such provider.
        """
        if self._own is not None and name in {"", "smart", "fast", self._own.name}:
            return self._own
        name = await self._resolve(name)
        entry = self._section.named.get(name)
        model = await self._make_once(name)
        if entry is None or not entry.fallbacks:
            return model
        from pegboard.models import FallbackModel

        return FallbackModel([model, *[await self._make_once(it) for it in entry.fallbacks]])

    async def get_for(self, name: str, *, principal: Principal, account: str = "") -> ChatModel:
        """The same for a caller: also one that a person has added, where the caller sees it.

        Args:
            name: Empty for the smart one.
            principal: The caller, with whose credential it is asked, else with its owner's.
            account: The name of that credential; empty for the default. Models of the board file
                take the key of the board.

        Raises:
            ModelNotConfigured: There is none for this caller.
            CredentialMissing: It needs a key, and the caller has none.
            Unavailable: The key cannot be read now.
        """
        stored = self._find_stored(name, principal)
        if stored is None:
            return await self.get(name)
        return await stored.create(name, principal=principal, account=account)

    def is_foreign(self, name: str, *, principal: Principal) -> bool:
        """Whether another person has added a model, and no operator answers for what it says."""
        stored = self._find_stored(name, principal)
        return stored is not None and stored.is_foreign(name, principal)

    def _find_stored(self, name: str, principal: Principal) -> "StoredModels | None":
        """The models of people, where the name is one of theirs and none of the board's."""
        stored = self._stored
        if stored is None or not stored.has(name, principal) or self.choices.is_name_of_board(name):
            return None
        return stored

    async def find_fast(self) -> ChatModel | None:
        """The model for summaries and choices; None where it is no other than the smart one."""
        if self._own is not None or not (self._settings.fast_model or self._section.fast):
            return None
        return await self.get("fast")

    def find_embedder(self, name: str = "") -> Embedder | None:
        """The model that turns texts into vectors; None where none is configured.

        Args:
            name: Of one that was configured before, `provider:model`; empty for the one of now.

        Raises:
            ConfigError: Its provider has no embeddings.
        """
        from pegboard.models import ProviderEmbedder

        named = self._section.named
        name = next((key for key, entry in named.items() if entry.model == name), name)
        name = name or self._settings.embed_model or self._section.embed or ""
        if not name:
            return None
        key = (name := self._with_provider(name)), self._section.named.get(name)
        if key not in self._embedders:
            requests = None if key[1] is None else _make_limiter(name, key[1])
            self._embedders[key] = ProviderEmbedder(
                self._endpoint(*key), self._client(), requests=requests
            )
        return self._embedders[key]

    def find_picture_reader(self) -> PictureReader | None:
        """The model that reads pictures; None where none is configured.

        Raises:
            ConfigError: There is no such provider.
        """
        from pegboard.models import ProviderPictureReader

        name = self._vision
        if not name:
            return None
        key = (name := self._with_provider(name)), self._section.named.get(name)
        if key not in self._picture_readers:
            self._picture_readers[key] = ProviderPictureReader(self._endpoint(*key), self._client())
        return self._picture_readers[key]

    def find_reranker(self) -> Reranker | None:
        """The model that orders what knowledge bases have found; None where none is configured.

        Raises:
            ConfigError: There is no such provider, or its address is missing.
        """
        from pegboard.models import ProviderReranker

        name = self._rerank
        if not name:
            return None
        key = name, self._section.named.get(name)
        if key not in self._rerankers:
            requests = None if key[1] is None else _make_limiter(name, key[1])
            self._rerankers[key] = ProviderReranker(
                self._endpoint(*key), self._client(), requests=requests
            )
        return self._rerankers[key]

    @property
    def _vision(self) -> str:
        return self._settings.vision_model or self._section.vision or ""

    @property
    def _rerank(self) -> str:
        return self._settings.rerank_model or self._section.rerank or ""

    @property
    def _section(self) -> LanguageModels:
        return self._board().models

    @property
    def _smart(self) -> str:
        return self._settings.model or self._section.smart or ""

    async def _resolve(self, name: str) -> str:
        """The name in the board file, or `provider:name`, that stands behind a name."""
        if name == "fast":
            name = self._settings.fast_model or self._section.fast or self._smart
        elif name in {"", "smart"}:
            name = self._smart
        return self._with_provider(name) or f"openai:{await self._find_only_model()}"

    def _with_provider(self, name: str) -> str:
        """The name with its provider: its own, else that of the smart model, else OpenAI's."""
        named = self._section.named
        if not name or ":" in name or name in named:
            return name
        smart = named[self._smart].model if self._smart in named else self._smart
        provider, colon, _ = smart.partition(":")
        return f"{provider}:{name}" if colon else f"openai:{name}"

    async def _make_once(self, name: str) -> ChatModel:
        key = name, self._section.named.get(name)
        if key not in self._made:
            self._made[key] = await self._make(*key)
        return self._made[key]

    async def _make(self, name: str, entry: LanguageModelEntry | None) -> ChatModel:
        from pegboard.models import (
            JsonToolsModel,
            LimitedModel,
            ProviderModel,
            TokenRate,
            find_context_window,
        )

        endpoint = self._endpoint(name, entry)
        if endpoint.context_window is None:
            window = await asyncio.to_thread(find_context_window, endpoint.name)
            endpoint = replace(endpoint, context_window=window)
        made = ProviderModel(endpoint, self._client())
        model = made if endpoint.supports_tools else JsonToolsModel(made)
        if entry is None or not entry.limits.model_fields_set:
            return model
        tokens = entry.limits.tokens_per_minute
        return LimitedModel(
            model,
            _make_limiter(name, entry),
            tokens=TokenRate(tokens=tokens, per=60.0) if tokens else None,
        )

    def _endpoint(self, name: str, entry: LanguageModelEntry | None) -> "ModelEndpoint":
        from pegboard.models import ModelEndpoint, UsagePrice

        provider = (name if entry is None else entry.model).partition(":")[0]
        api_key = self._environ.get(_KEYS.get(provider, ""), "")
        base_url = self._environ.get(_BASE_URLS.get(provider, ""), "")
        if entry is None:
            return ModelEndpoint(name=name, api_key=api_key, base_url=base_url)
        if entry.api_key is not None:
            api_key = entry.api_key.get_secret_value()
        elif entry.base_url:  # the key of one server is not for another
            api_key = ""
        return ModelEndpoint(
            name=entry.model,
            api_key=api_key,
            base_url=entry.base_url or base_url,
            context_window=entry.context_window,
            retries=entry.retries,
            supports_tools=entry.tools,
            supports_schema=entry.schemas,
            price=None if entry.price is None else UsagePrice(**entry.price.model_dump()),
        )

    async def _find_only_model(self) -> str:
        """The one model that the server at `OPENAI_BASE_URL` lists.

        Raises:
            ModelNotConfigured: There is no such server, or it lists several models; names them.
        """
        base_url = self._environ.get("OPENAI_BASE_URL", "").rstrip("/")
        if not base_url:
            raise ModelNotConfigured(MISSING)
        key = self._environ.get("OPENAI_API_KEY", "")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        answer = await self._client().send(
            HttpRequest(method="GET", url=f"{base_url}/models", headers=headers)
        )
        names = _model_names(answer.content) if answer.status == 200 else []
        if len(names) == 1:
            return names[0]
        found = ", ".join(names[:_MOST_NAMES]) or f"nothing (status {answer.status})"
        raise ModelNotConfigured(
            f"OPENAI_BASE_URL lists {found}: name one with PEGBOARD_MODEL=openai:name."
        )

    def _client(self) -> HttpClient:
        """The guarded client, which may also reach the addresses that the operator names."""
        urls = [self._environ.get(name, "") for name in _BASE_URLS.values()]
        urls += [entry.base_url for entry in self._section.named.values()]
        hosts = tuple(sorted({host for url in urls if (host := _host_of(url))}))
        if hosts not in self._clients:
            network = self._board().network
            self._clients[hosts] = create_http_client(
                network.model_copy(update={"allow_hosts": (*network.allow_hosts, *hosts)})
            )
        return self._clients[hosts]


def _make_limiter(name: str, entry: LanguageModelEntry) -> Limiter:
    """The limits of a model on its requests."""
    limits = entry.limits
    requests = Limits(rate=limits.requests_per_minute, per=60.0, concurrency=limits.concurrency)
    return Limiter(f"model {name}", requests)


class _ModelEntry(Struct):
    """A model in the list of an OpenAI-compatible server."""

    id: str


class _ModelList(Struct):
    """The answer of `GET /models`."""

    data: list[_ModelEntry]


def _host_of(url: str) -> str:
    """`host:port` of an address; empty for none.

    Raises:
        InvalidRequest: It is no address of a server.
    """
    if not url:
        return ""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidRequest(
            "OPENAI_BASE_URL and ANTHROPIC_BASE_URL begin with http:// or https://"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def _model_names(content: bytes) -> list[str]:
    try:
        return [item.id for item in json.decode(content, type=_ModelList).data]
    except DecodeError:
        return []
