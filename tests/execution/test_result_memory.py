"""Results are remembered within bounds, the latest runs longest."""

from pegboard.access.result_values import ResultValues
from pegboard.execution.result_memory import ResultMemory


def values_of(call_id: str, text: str = "") -> ResultValues:
    return ResultValues(call_id=call_id, tool="read", text=text)


def test_results_of_a_run_come_in_their_order_and_no_more_than_a_hundred() -> None:
    memory = ResultMemory()

    for number in range(120):
        memory.add("r", values_of(str(number)))

    assert [item.call_id for item in memory.list("r")] == [str(n) for n in range(20, 120)]
    assert memory.list("other") == ()


def test_the_oldest_run_is_forgotten_first() -> None:
    memory = ResultMemory(max_size=3_300)

    for run in ("a", "b", "a", "c", "d", "e", "f", "g", "h"):
        memory.add(run, values_of(run, "x" * 200))

    assert memory.list("b") == ()
    assert [item.call_id for item in memory.list("a")] == ["a", "a"]


def test_one_huge_result_is_not_remembered() -> None:
    memory = ResultMemory(max_size=1_000)

    memory.add("a", values_of("1"))
    memory.add("a", values_of("2", "x" * 5_000))

    assert memory.list("a") == ()
