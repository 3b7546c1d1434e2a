"""Who may play a run."""

from pegboard.core.graph import NodeState
from pegboard.storage.leasing import GOES_ON, lease_lost_error


def test_whoever_lost_a_lease_need_not_try_again() -> None:
    error = lease_lost_error("r1")

    assert "'r1' is played by somebody else" in str(error)
    assert (error.retryable, error.nothing_done) == (False, True)


def test_a_run_goes_on_by_itself_in_no_state_that_waits_or_is_final() -> None:
    assert not any(state.is_final for state in GOES_ON)
    assert NodeState.WAITING not in GOES_ON
    assert NodeState.PAUSED not in GOES_ON
