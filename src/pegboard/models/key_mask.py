"""Masks the key of a model in what its server says: a server may repeat what it was sent."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast
from urllib.parse import quote

from msgspec import convert, structs, to_builtins

from pegboard.core.model_messages import (
    AssistantMessage,
    ModelPart,
    ModelResponse,
    TextDelta,
    ThinkingDelta,
)

MASK = "[redacted]"
_MIN_KEY = 8
"""Shorter ones, as `none`, are no secrets, and would destroy ordinary text."""


class KeyMask:
    """The mask of one key.

    Args:
        key: As it is sent; also found as JSON strings and URLs write it.
    """

    def __init__(self, key: str) -> None:
        forms = {key, json.dumps(key)[1:-1], quote(key, safe="")}
        self._forms = sorted(forms, key=len, reverse=True) if len(key) >= _MIN_KEY else []

    def clean(self, text: str) -> str:
        """The text without the key."""
        for form in self._forms:
            text = text.replace(form, MASK)
        return text

    def clean_cause(self, error: Exception) -> Exception | None:
        """An error as the cause of ours, whose text logs show; None where it has the key.

        Raise `from` it.
        """
        current: BaseException | None = error
        while current is not None:
            text = str(current)
            if self.clean(text) != text:
                return None
            current = current.__cause__ or current.__context__
        return error

    async def clean_stream(self, parts: AsyncIterator[ModelPart]) -> AsyncIterator[ModelPart]:
        """The parts of an answer without the key, which may be cut in pieces."""
        if not self._forms:
            async for part in parts:
                yield part
            return
        waiting = {TextDelta: "", ThinkingDelta: ""}
        async for part in parts:
            if isinstance(part, ModelResponse):
                for kind, text in waiting.items():
                    if text:
                        yield kind(text)
                yield self._clean_response(part)
                continue
            kind = type(part)
            text = self.clean(waiting[kind] + part.text)
            held = self._measure_start(text)
            waiting[kind] = text[len(text) - held :]
            if len(text) > held:
                yield kind(text[: len(text) - held])

    def _measure_start(self, text: str) -> int:
        """How many characters at the end of a text may be the beginning of the key."""
        for size in range(min(len(text), len(self._forms[0]) - 1), 0, -1):
            if any(form.startswith(text[-size:]) for form in self._forms):
                return size
        return 0

    def _clean_response(self, response: ModelResponse) -> ModelResponse:
        data: object = to_builtins(response.message)
        cleaned = self._clean_value(data)
        message = response.message if cleaned == data else convert(cleaned, AssistantMessage)
        return structs.replace(response, message=message, model=self.clean(response.model))

    def _clean_value(self, value: object) -> Any:
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            return {self.clean(name): self._clean_value(item) for name, item in items}
        if isinstance(value, (list, tuple)):
            return [self._clean_value(item) for item in cast("list[Any]", value)]
        return value
