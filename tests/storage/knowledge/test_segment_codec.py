"""Segments as bytes."""

import numpy as np
from tests.storage.knowledge.test_segments import terms

from pegboard.storage.knowledge.segment_codec import decode_segment, encode_segment
from pegboard.storage.knowledge.word_segment import WordSegment, build_segment


def test_a_segment_is_read_as_it_was_written() -> None:
    segment = build_segment([(1, terms("red cat", "blue\nred")), (4, terms(""))])

    read = decode_segment(encode_segment(segment))

    assert read is not None
    for name in WordSegment.__struct_fields__:
        written, found = getattr(segment, name), getattr(read, name)
        assert found.dtype == written.dtype
        assert np.array_equal(found, written)


def test_a_segment_of_another_version_is_not_read() -> None:
    body = encode_segment(build_segment([(1, terms("red"))]))

    assert decode_segment(b"\x63" + body[1:]) is None
