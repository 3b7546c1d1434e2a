import gc

import pytest

from pegboard.core.collecting import collecting_later, length_or_zero


def test_the_collector_rests_while_very_much_is_made() -> None:
    with collecting_later(1_000):
        assert not gc.isenabled()
        with collecting_later(1_000):
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_few_things_are_collected_as_ever() -> None:
    with collecting_later(999):
        assert gc.isenabled()


def test_what_was_made_counts_as_old_and_can_still_be_collected() -> None:
    with collecting_later(1_000):
        made = [[] for _ in range(10_000)]
    young = gc.get_count()[0]
    made.append(made)  # a cycle, which only the collector ends
    del made

    assert young < 10_000
    assert gc.collect() >= 10_000


def test_the_collector_works_again_after_a_failure() -> None:
    with pytest.raises(KeyError), collecting_later(1_000):
        raise KeyError
    assert gc.isenabled()


@pytest.mark.parametrize(("items", "count"), [([1, 2], 2), ((1,), 1), (3, 0), ("ab", 0), (None, 0)])
def test_what_is_no_list_of_a_document_has_no_things(items: object, count: int) -> None:
    assert length_or_zero(items) == count
