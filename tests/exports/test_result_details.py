"""The handles that messages of frameworks keep."""

from pegboard.core.result import Artifact, ResultMeta, ToolResult
from pegboard.exports.result_details import result_details


def test_a_result_of_which_nothing_is_stored_has_no_details() -> None:
    assert result_details(ToolResult(content="3", structured=3)) == {}


def test_handles_of_a_large_result_and_of_files_are_kept() -> None:
    file = Artifact(name="a.csv", media_type="text/csv", handle="h_2", size=3)
    result = ToolResult(
        content="1",
        artifacts=(file,),
        meta=ResultMeta(truncated=True, handle="h_1", total_bytes=9),
    )

    details = result_details(result)

    assert (details["handle"], details["total_bytes"]) == ("h_1", 9)
    assert [(item["name"], item["handle"], item["size"]) for item in details["artifacts"]] == [
        ("a.csv", "h_2", 3)
    ]
