"""How long texts are for a model."""

from pegboard.core.text.measure import measure_text


def test_text_is_measured_in_bytes() -> None:
    assert measure_text("abc" * 100) == 101
    assert measure_text("日本" * 100) == 201
