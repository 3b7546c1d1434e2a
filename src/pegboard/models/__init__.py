"""Models of providers, behind the ports `ChatModel`, `Embedder`, `PictureReader` and `Reranker`."""

from pegboard.models.fallback_model import FallbackModel
from pegboard.models.json_tools_model import JsonToolsModel
from pegboard.models.limited_model import LimitedModel, TokenRate
from pegboard.models.model_price import UsagePrice
from pegboard.models.provider_embedder import ProviderEmbedder
from pegboard.models.provider_model import (
    PROVIDERS,
    ModelEndpoint,
    ProviderModel,
    find_context_window,
)
from pegboard.models.provider_picture_reader import ProviderPictureReader
from pegboard.models.provider_reranker import RERANKERS, ProviderReranker

__all__ = [
    "PROVIDERS",
    "RERANKERS",
    "FallbackModel",
    "JsonToolsModel",
    "LimitedModel",
    "ModelEndpoint",
    "ProviderEmbedder",
    "ProviderModel",
    "ProviderPictureReader",
    "ProviderReranker",
    "TokenRate",
    "UsagePrice",
    "find_context_window",
]
