"""Language models of providers, behind the ports `ChatModel`, `Embedder` and `PictureReader`."""

from pegboard.models.fallback_model import FallbackModel
from pegboard.models.json_tools_model import JsonToolsModel
from pegboard.models.limited_model import LimitedModel, TokenRate
from pegboard.models.provider_embedder import ProviderEmbedder
from pegboard.models.provider_model import (
    PROVIDERS,
    ModelEndpoint,
    ProviderModel,
    find_context_window,
)
from pegboard.models.provider_picture_reader import ProviderPictureReader

__all__ = [
    "PROVIDERS",
    "FallbackModel",
    "JsonToolsModel",
    "LimitedModel",
    "ModelEndpoint",
    "ProviderEmbedder",
    "ProviderModel",
    "ProviderPictureReader",
    "TokenRate",
    "find_context_window",
]
