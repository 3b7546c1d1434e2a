"""A server with OpenAI's API of embeddings that answers at once, with vectors of chance.

The first line of its output is its port; `GET /count` says how many texts it has embedded.
"""

import base64
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from seeded_texts import make_vectors


class Handler(BaseHTTPRequestHandler):
    """Answers requests on connections that stay open."""

    protocol_version = "HTTP/1.1"
    texts = 0

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Handler.texts += len(asked["input"])
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": base64.b64encode(make_vectors(text, 1).tobytes()).decode(),
            }
            for index, text in enumerate(asked["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        self._answer({"object": "list", "data": data, "model": asked["model"], "usage": usage})

    def do_GET(self) -> None:
        self._answer({"texts": Handler.texts})

    def _answer(self, value: object) -> None:
        body = json.dumps(value).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        self.wfile.write(head.encode() + b"\r\n\r\n" + body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_port, flush=True)
        server.serve_forever()
