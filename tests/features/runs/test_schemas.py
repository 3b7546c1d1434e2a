"""What is asked of runs."""

import pytest
from pydantic import ValidationError

from pegboard.features.runs.schemas import RunAnswer, RunBody


def test_a_run_is_of_a_plan_or_of_a_graph() -> None:
    assert RunBody.model_validate({"plan_id": "p"}).graph == {}
    assert RunBody.model_validate({"graph": {"nodes": []}}).plan_id == ""
    for wrong in ({}, {"plan_id": "p", "graph": {}}):
        with pytest.raises(ValidationError, match="exactly one"):
            RunBody.model_validate(wrong)


def test_what_waits_has_a_schema_under_its_own_name() -> None:
    answer = RunAnswer.model_json_schema()

    assert "schema" in answer["$defs"]["PendingAnswer"]["properties"]
