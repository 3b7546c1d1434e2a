"""What a server asks reaches the right person, and refusals reach the server."""

import asyncio
import time
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from tests.sources.mcp.opening import Person, call_of

from pegboard.core.elicitation import Answer, Question, Sample, SampleRequest
from pegboard.errors import ElicitationUnavailable, Unavailable
from pegboard.sources.mcp.request_context import RequestContext
from pegboard.sources.mcp.session.server_requests import ServerRequests

CONTEXT: Any = None
FORM = types.ElicitRequestFormParams(message="Which?", requested_schema={"type": "object"})
PAGE = types.ElicitRequestURLParams(message="Log in", url="https://a.example/", elicitation_id="1")
SAMPLE = types.CreateMessageRequestParams(
    messages=[types.SamplingMessage(role="user", content=types.TextContent(text="hi"))],
    max_tokens=7,
    model_preferences=types.ModelPreferences(cost_priority=0.5),
    stop_sequences=["x"],
)


class Leaving:
    """Was there when the call began."""

    takes_questions = True
    takes_samples = True

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def ask(self, question: Question) -> Answer:
        raise self._error

    async def sample(self, request: SampleRequest) -> Sample:
        raise self._error


def _questions(asker: Any, roots: tuple[Path, ...] = ()) -> ServerRequests:
    context = RequestContext(call_of(elicitor=asker))
    return ServerRequests("shop", lambda: context, roots)


async def test_an_answer_has_content_only_when_a_form_was_accepted() -> None:
    accepted = await _questions(Person("red")).elicit(CONTEXT, FORM)
    declined = await _questions(Person("red", action="decline")).elicit(CONTEXT, FORM)
    person = Person("red")
    opened = await _questions(person).elicit(CONTEXT, PAGE)

    assert accepted == types.ElicitResult(action="accept", content={"colour": "red"})
    assert declined == types.ElicitResult(action="decline", content=None)
    assert opened == types.ElicitResult(action="accept", content=None)
    assert person.asked[0].url == "https://a.example/"


async def test_a_sample_says_all_that_the_server_said() -> None:
    person = Person("red")
    found = await _questions(person).sample(CONTEXT, SAMPLE)

    assert isinstance(found, types.CreateMessageResult)
    assert (found.model, found.stop_reason) == ("model of red", "endTurn")
    asked = person.sampled[0]
    assert (asked.max_tokens, asked.stop_sequences) == (7, ("x",))
    assert asked.preferences == {"costPriority": 0.5}


@pytest.mark.parametrize(
    ("asker", "says"),
    [
        (None, "caller does not take such questions"),
        (Leaving(ElicitationUnavailable("Its form asks for a secret.")), "asks for a secret"),
        (Leaving(Unavailable("The caller went away.")), "The caller went away."),
    ],
    ids=["nobody", "refuses", "left"],
)
async def test_who_cannot_answer_is_an_error_for_the_server(asker: Any, says: str) -> None:
    asked = await _questions(asker).elicit(CONTEXT, FORM)
    sampled = await _questions(asker).sample(CONTEXT, SAMPLE)

    assert isinstance(asked, types.ErrorData)
    assert says in asked.message
    assert isinstance(sampled, types.ErrorData)
    assert says in sampled.message


async def test_a_question_of_no_known_call_is_refused() -> None:
    questions = ServerRequests("shop", lambda: None, ())

    asked = await questions.elicit(CONTEXT, FORM)
    sampled = await questions.sample(CONTEXT, SAMPLE)

    assert isinstance(asked, types.ErrorData)
    assert isinstance(sampled, types.ErrorData)
    assert asked.message == sampled.message


async def test_a_request_of_the_boards_own_has_nobody_behind_it() -> None:
    context = RequestContext(None, timeout=5)
    asked = await ServerRequests("shop", lambda: context, ()).elicit(CONTEXT, FORM)
    await context.log("x", "info", "")
    await context.progress(1, None, None)

    assert isinstance(asked, types.ErrorData)
    assert 4 < (context.remaining() or 0) <= 5


async def test_folders_are_told_as_urls(tmp_path: Path) -> None:
    found = await _questions(None, (tmp_path,)).list_roots(CONTEXT)

    assert [(str(item.uri), item.name) for item in found.roots] == [
        (tmp_path.as_uri(), tmp_path.name)
    ]


class Slow(Person):
    """Somebody whose answer takes no time of the call."""

    deadline: float | None = None

    async def ask(self, question: Question) -> Answer:
        await asyncio.sleep(0.1)
        return await super().ask(question)


async def test_no_time_of_a_request_passes_while_a_person_is_asked() -> None:
    began = time.monotonic()
    context = RequestContext(call_of(elicitor=Slow("red"), deadline=began + 5))
    await ServerRequests("shop", lambda: context, ()).elicit(CONTEXT, FORM)

    assert (context.remaining() or 0) > began + 5 - time.monotonic() + 0.05
