import datetime as dt

import pytest

from pegboard.sources.openapi.document.parser import Unreadable, parse_document, to_json_data


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [1, 2.5, null, true]}', {"a": [1, 2.5, None, True]}),
        ("\ufeff{}", {}),
        ("a: 1\nb: [x, y]", {"a": 1, "b": ["x", "y"]}),
        ("{a: 1, b: no}", {"a": 1, "b": "no"}),
        ("responses: {200: {}, default: {}}", {"responses": {"200": {}, "default": {}}}),
        ("yes: 1\non: 2\ntrue: 3\nnull: 4", {"yes": 1, "on": 2, "true": 3, "null": 4}),
        (
            "when: 2024-01-02\ntime: 12:30:45\nmask: 010",
            {"when": "2024-01-02", "time": "12:30:45", "mask": "010"},
        ),
        ("n: 0x1F\nf: .5\ne: 1e3\nneg: -7", {"n": 31, "f": 0.5, "e": 1000.0, "neg": -7}),
        ("empty:\ntilde: ~", {"empty": None, "tilde": None}),
        ("base: &b {x: 1}\nmore: {<<: *b, y: 2}", {"base": {"x": 1}, "more": {"x": 1, "y": 2}}),
        ("swagger: 2.0", {"swagger": 2.0}),
        ("", None),
        ("just text", "just text"),
    ],
)
def test_json_and_yaml_are_read_alike(text: str, expected: object) -> None:
    assert parse_document(text.encode()) == expected


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"a": ', "not valid JSON"),
        (b"[1, ", "not valid JSON"),
        (b'{"a": "\\ud800"}', "not valid JSON"),
        (b"a: [1\nb: 2", "not valid YAML in line 2"),
        (b"a: b: c", "not valid YAML in line 1"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        (b"a: \x00", "neither JSON nor YAML"),
        (b"a: !!python/object/apply:os.system ['true']", "not valid YAML"),
        (b"a: !unknown 1", "not valid YAML"),
        (b"a: *missing", "not valid YAML"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deep"),
        (b"a:\n " + b"[" * 300 + b"]" * 300, "more than 200 levels"),
        (b"a: " + b"[" * 200_000, "more than 200 levels"),
        (b"- " * 200_000, "more than 200 levels"),
        (b"a: &a [*a]", "a value that contains it"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_read_says_why(raw: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parse_document(raw)


def billion_laughs(*, merge: bool) -> bytes:
    lines = ["a0: &a0 {k: lol}" if merge else "a0: &a0 [lol, lol]"]
    for level in range(1, 60):
        before = ", ".join([f"*a{level - 1}"] * 9)
        value = f"{{<<: [{before}], k{level}: 1}}" if merge else f"[{before}]"
        lines.append(f"a{level}: &a{level} {value}")
    return "\n".join(lines).encode()


@pytest.mark.parametrize("merge", [True, False], ids=["merge keys", "aliases"])
def test_a_billion_laughs_are_refused_before_they_are_built(merge: bool) -> None:
    with pytest.raises(Unreadable, match="aliases expand to more than"):
        parse_document(billion_laughs(merge=merge))


def test_data_that_yaml_made_becomes_json() -> None:
    shared = {1: dt.date(2024, 1, 2)}

    made = to_json_data({"a": shared, "b": shared, True: (1, None), None: 2.5})

    assert made == {
        "a": {"1": "2024-01-02"},
        "b": {"1": "2024-01-02"},
        "true": [1, None],
        "null": 2.5,
    }
    assert made["a"] is made["b"]
