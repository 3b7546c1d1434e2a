"""The defaults that calls work with."""

from pegboard.execution import CallDefaults, CallEnvironment


def test_a_kit_without_a_board_knows_no_reason_why_a_tool_is_absent() -> None:
    assert CallEnvironment().why_missing("shop__find") == ""


def test_two_kits_share_nothing() -> None:
    first, second = CallEnvironment(), CallEnvironment()

    for name in ("policy", "switches", "emitter", "results", "outcomes", "cache", "limiters"):
        assert getattr(first, name) is not getattr(second, name), name


def test_the_defaults_are_those_that_the_documentation_states() -> None:
    assert CallDefaults() == CallDefaults(
        attempt_timeout=60,
        call_timeout=300,
        max_wait=30,
        max_result_bytes=100_000,
        result_ttl=86_400,
        batch_concurrency=16,
    )
