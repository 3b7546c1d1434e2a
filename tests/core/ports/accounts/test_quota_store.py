"""The key of a quota: one for each subject, measure, window and right."""

from msgspec import structs

from pegboard.core.ports.accounts.quota_store import Quota


def test_quotas_of_another_subject_measure_window_or_right_have_another_key() -> None:
    one = Quota(measure="calls", window="day", limit=1.0, person="u_ada", organisation="acme")
    others = [
        structs.replace(one, measure="cost"),
        structs.replace(one, window="month"),
        structs.replace(one, person=""),
        structs.replace(one, organisation=""),
        structs.replace(one, setter="administrator"),
    ]

    assert len({quota.key for quota in (one, *others)}) == len(others) + 1
    assert structs.replace(one, limit=2.0).key == one.key
