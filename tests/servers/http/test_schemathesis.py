"""Requests that nobody here thought of, made from the OpenAPI document by schemathesis.

Each operation gets valid and invalid requests over a real socket; every answer must have a status,
a type and a shape that the document names, valid requests must be taken and invalid ones refused.
One pass covers both: valid names are narrowed to tools that are there, invalid ones are anything.
"""

import asyncio
import copy
import os
import threading
from collections.abc import Generator
from concurrent.futures import Future
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, assume, settings
from hypothesis.stateful import run_state_machine_as_test
from schemathesis import Case
from schemathesis.checks import load_all_checks
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.openapi import from_dict
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    positive_data_acceptance,
    unsupported_method,
)

from pegboard.runtime import Pegboard, Settings
from pegboard.servers.http import create_app
from pegboard.servers.http.openapi import document
from pegboard.servers.http.server import run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(480)]

SETTINGS = Settings(port=0)
AS_PUBLISHED = document(create_app(Pegboard(settings=SETTINGS)), needs_token=False)


def with_real_names(made: dict[str, Any]) -> dict[str, Any]:
    """The document, narrowed to tools that are there, so that valid requests reach them."""
    narrow = copy.deepcopy(made)
    for path in (
        "/tools/{tool}",
        "/tools/{tool}/explain",
        "/tools/{tool}/versions",
        "/tools/{tool}/diff",
        "/tools/{tool}/health",
        "/tools/{tool}/replacements",
    ):
        narrow["paths"][path]["get"]["parameters"][0]["schema"] = {
            "enum": ["builtin__echo", "builtin__echo_v1", "builtin__calculator"]
        }
    request = narrow["components"]["schemas"]["ExecuteRequest"]
    request["required"] = ["input"]
    properties = request["properties"]
    properties["name"] = {"const": "builtin__echo"}
    properties["tool_id"] = {"const": "builtin__echo_v1"}
    properties["capability"] = {"const": "nobody has this"}
    properties["input"] = {
        "type": "object",
        "properties": {"message": {"type": "string", "maxLength": 50}},
        "required": ["message"],
        "additionalProperties": False,
    }
    # each example has to fit the schema that the same registration gives, which no document can say
    del narrow["components"]["schemas"]["Registration"]["properties"]["examples"]
    return narrow


load_all_checks()
narrowed = from_dict(with_real_names(AS_PUBLISHED))
# to make each combination of boundary values takes two minutes of processor time
narrowed.config.phases.coverage.enabled = os.environ.get("HYPOTHESIS_PROFILE") == "explore"
few = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    phases=[Phase.explicit, Phase.generate],
)


@pytest.fixture(scope="module")
def url() -> Generator[str]:
    """The address of a server with the built-in tools, in a thread of its own."""
    listening: Future[str] = Future()
    running: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = Future()

    async def serving() -> None:
        task = asyncio.create_task(run(SETTINGS, ready=listening.set_result, grace=1))
        running.set_result((asyncio.get_running_loop(), task))
        await asyncio.wait((task,))

    thread = threading.Thread(target=lambda: asyncio.run(serving()))
    thread.start()
    loop, task = running.result(60)
    yield listening.result(60)
    loop.call_soon_threadsafe(task.cancel)
    thread.join(60)


def without(case: Case) -> list[Any]:
    """The checks that an operation cannot keep.

    What a graph means no schema says: one that no board can run is refused, and rightly. Requests
    of OpenAI's API are open, and say more than an agent does. The arguments that `explain` takes
    are those of a tool, a credential is for a source that there is, and a configuration has to fit
    the kind of its connector. How large a file may be is a setting of the server. A name of a base
    may be taken, and a shared one names its organisation. A document has one origin, a quota is
    somebody's. An account is linked where a page for browsers is.
    """
    path = case.operation.path
    if path == "/session/oidc":
        return [allow_header_conformance, unsupported_method]
    means = path in {"/tools/{tool}/explain", "/quotas", "/knowledge/{base}"} or (
        case.method == "POST"
        and path
        in {
            "/runs",
            "/chat/completions",
            "/responses",
            "/resources",
            "/uploads",
            "/knowledge",
            "/knowledge/{base}/documents",
            "/knowledge/{base}/check",
            "/credentials",
            "/credentials/oauth/start",
        }
    )
    return [positive_data_acceptance] if means else []


def check(case: Case, url: str) -> None:
    """Send a request, and check its answer."""
    # a longer head of a request never reaches what answers
    assume(len(str(case.as_transport_kwargs(base_url=url).get("params") or "")) < 8_000)
    case.call_and_validate(base_url=url, excluded_checks=without(case))


@pytest.mark.parametrize(
    ("path", "method"),
    [
        pytest.param(path, method, id=f"{method.upper()} {path}")
        for path, methods in AS_PUBLISHED["paths"].items()
        for method in methods
    ],
)
def test_every_operation_answers_as_the_document_says(path: str, method: str, url: str) -> None:
    # what `narrowed.parametrize()` does when tests are collected, which takes every process 13 s
    test = build_operation_test(
        config=narrowed.config,
        operation=narrowed[path][method],
        test_func=lambda case: check(case, url),
        given_kwargs={},
        feedback=FeedbackSources(),
        explicit_settings=few,
    )
    test()


def test_operations_that_follow_from_an_answer_do_too(url: str) -> None:
    class _Workflow(narrowed.as_state_machine()):
        def get_call_kwargs(self, case: Case) -> dict[str, Any]:
            return {"base_url": url}

        def validate_response(
            self, response: Any, case: Case, additional_checks: Any = None, **kwargs: Any
        ) -> None:
            case.validate_response(
                response,
                additional_checks=additional_checks,
                excluded_checks=without(case),
                transport_kwargs=kwargs or None,
            )

    run_state_machine_as_test(_Workflow, settings=settings(few, stateful_step_count=4))


def test_the_narrowed_document_names_tools_that_are_there(url: str) -> None:
    for tool in ("builtin__echo", "builtin__echo_v1", "builtin__calculator"):
        assert httpx2.get(f"{url}/tools/{tool}", timeout=60).status_code == 200
