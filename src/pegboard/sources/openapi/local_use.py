"""What a REST API uses of the server's own machine."""

from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.document.loader import is_pasted
from pegboard.sources.openapi.document.server_urls import is_url


def find_local_use(config: OpenApiConfig) -> str:
    """The file that its document is read from; empty for a URL, a pasted text or none."""
    document = config.document
    if not isinstance(document, str) or is_url(document) or is_pasted(document):
        return ""
    return "'document' names a file of the server: give its URL, or paste its text"
