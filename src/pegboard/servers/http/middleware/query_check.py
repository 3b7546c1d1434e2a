"""ASGI middleware: refuses query parameters that a route does not know."""

from collections.abc import Sequence
from urllib.parse import parse_qsl

from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from pegboard.servers.http.problem_details import validation_answer
from pegboard.servers.http.validation_messages import list_query_names, schema_of_route

_VERSION = "/v1"


class QueryCheck:
    """ASGI middleware: refuses query parameters that a route does not know (422).

    A misspelt filter that is ignored is answered with everything, as if nothing had been asked for.

    Args:
        app: The application behind it.
        routes: All routes in the order in which they are compared, each with whether it refuses.
    """

    def __init__(self, app: ASGIApp, routes: Sequence[tuple[APIRoute, bool]]) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or not scope["query_string"]:
            await self._app(scope, receive, send)
            return
        route = self._find_route(scope)
        unknown = [] if route is None else _find_unknown(route, scope)
        if route is None or not unknown:
            await self._app(scope, receive, send)
            return
        faults = [{"type": "extra_forbidden", "loc": ("query", name)} for name in unknown]
        answer = validation_answer(faults, schema=schema_of_route(route))
        await answer.response()(scope, receive, send)

    def _find_route(self, scope: Scope) -> APIRoute | None:
        """The route of a request, if it refuses unknown parameters."""
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path.startswith(f"{_VERSION}/"):
            path = path.removeprefix(_VERSION)
        method = scope["method"]
        for route, is_closed in self._routes:
            if method in route.methods and route.path_regex.match(path):
                return route if is_closed else None
        return None


def _find_unknown(route: APIRoute, scope: Scope) -> list[str]:
    known = list_query_names(route)
    given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return list(dict.fromkeys(name for name, _ in given if name not in known))
