from pegboard.concurrency.exception_groups import unwrap_single_error

LONE = ValueError("odd")


def test_a_lone_error_is_found_in_whatever_number_of_groups() -> None:
    wrapped = ExceptionGroup("outer", [ExceptionGroup("inner", [LONE])])

    assert (unwrap_single_error(LONE), unwrap_single_error(wrapped)) == (LONE, LONE)


def test_a_group_of_several_stays_whole() -> None:
    several = ExceptionGroup("outer", [ExceptionGroup("inner", [LONE, KeyError("x")])])

    assert unwrap_single_error(several) is several
