"""The answer of the settings: its groups and doors are those that the server reports."""

from typing import get_args

from pegboard.runtime.settings import Settings
from pegboard.runtime.settings_report import group_of
from pegboard.servers.http.models.settings import SettingRow


def test_each_group_that_is_reported_is_in_the_model() -> None:
    groups = set(get_args(SettingRow.model_fields["group"].annotation))

    assert {group_of(name) for name in Settings.model_fields} == groups
