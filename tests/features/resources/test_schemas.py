"""Views of resources fit the answers that the API describes."""

import pytest
from tests.storage.test_resources import a_resource

from pegboard.access.visibility import resolve_visibility
from pegboard.core.principal import LOCAL
from pegboard.features.resources import ConnectorReport
from pegboard.features.resources.schemas import AddResource, ChangeResource, ResourceAnswer
from pegboard.features.resources.views import ResourceView


@pytest.mark.parametrize("is_editor", [True, False])
def test_a_view_is_an_answer_and_shows_the_configuration_to_its_owner(is_editor: bool) -> None:
    resource = a_resource(review_note="not yet")
    view = ResourceView(
        resource=resource,
        owner="ada",
        vouched_by="",
        is_reviewer=False,
        reviewed_by="",
        visibility=resolve_visibility(LOCAL, resource, is_subscribed=False),
        is_editor=is_editor,
        shows_config=is_editor,
        report=ConnectorReport(status="ok", tools=("ada--github__list",)),
    )
    answer = ResourceAnswer.model_validate(view.to_dict())

    assert (answer.config, answer.review_note) == (
        (dict(resource.config), "not yet") if is_editor else (None, "")
    )
    assert answer.title == "ada--github"


def test_what_is_not_sent_is_not_changed() -> None:
    change = ChangeResource.model_validate({"title": "x"}).to_change()
    assert (change.title, change.config, change.visibility) == ("x", None, None)
    new = AddResource(kind="agent", name="helper").to_new()
    assert (new.visibility, dict(new.config)) == ("private", {})
