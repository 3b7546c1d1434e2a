from pegboard.runtime.secret_mask import SecretMask


def test_nothing_to_mask_costs_the_steps_of_a_call_nothing() -> None:
    masking = SecretMask()

    assert masking.for_calls is None
    assert masking("text") == "text"


def test_secrets_of_a_later_board_are_masked_beside_those_of_the_first() -> None:
    masking = SecretMask(["first-secret"])
    masking.use(["later-secret"])

    assert masking("first-secret later-secret") == "[redacted] [redacted]"
    assert masking.for_calls is masking
