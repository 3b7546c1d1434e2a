import pytest

from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.references import BadReference, References, join_path

DOCUMENT = {
    "paths": {"/a/{id}": {"get": 1}, "a~b": 2, "with space": 3},
    "list": [{"x": 4}],
    "chain": {"$ref": "#/link"},
    "link": {"$ref": "#/list/0"},
    "loop": {"$ref": "#/pool"},
    "pool": {"$ref": "#/loop"},
    "deep": {"inner": {"$anchor": "here", "x": 5}},
}
FILES = {
    "": DOCUMENT,
    "schemas/pet.yaml": {"Pet": {"$ref": "../owner.yaml#/Owner"}, "Self": {"$ref": "#/Pet"}},
    "owner.yaml": {"Owner": {"x": 6}},
}


def found(ref: str, file: str = "") -> object:
    return References(FILES).resolve(LocatedNode(node={"$ref": ref}, file=file)).node


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("#/paths/~1a~1{id}/get", 1),
        ("#/paths/~1a~1%7Bid%7D/get", 1),
        ("#/paths/a~0b", 2),
        ("#/paths/with%20space", 3),
        ("#/list/0/x", 4),
        ("#/chain", {"x": 4}),
        ("#here", {"$anchor": "here", "x": 5}),
        ("#", DOCUMENT),
        ("owner.yaml", {"Owner": {"x": 6}}),
        ("./schemas/pet.yaml#/Pet", {"x": 6}),
        ("schemas/pet.yaml#/Self", {"x": 6}),
    ],
)
def test_a_reference_leads_where_it_says(ref: str, expected: object) -> None:
    assert found(ref) == expected


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        ("#/nothing", "leads to nothing"),
        ("#/list/7", "leads to nothing"),
        ("#/list/-1", "leads to nothing"),
        ("#/list/0/x/y", "leads to nothing"),
        ("#nowhere", "leads to nothing"),
        ("#/loop", "leads in a circle"),
        ("https://example.com/a.json#/x", "are not fetched"),
        ("//example.com/a.json", "are not fetched"),
        ("file:///etc/passwd", "are not fetched"),
        ("../outside.yaml", "leads out of the document"),
        ("/etc/passwd", "leads out of the document"),
        ("schemas/../../outside.yaml", "leads out of the document"),
        ("%2e%2e/outside.yaml", "leads out of the document"),
        ("absent.yaml", "leads out of the document"),
        ("x" * 500, "leads out of the document"),
    ],
)
def test_a_reference_that_leads_nowhere_says_so(ref: str, reason: str) -> None:
    with pytest.raises(BadReference, match=reason) as caught:
        found(ref)

    assert len(str(caught.value)) < 250


def test_a_file_that_could_not_be_read_says_why() -> None:
    references = References({"": {}}, {"big.yaml": "cannot be read: the file is too large"})

    with pytest.raises(BadReference, match=r"'big.yaml#/a' cannot be read: the file is too large"):
        references.resolve(LocatedNode(node={"$ref": "big.yaml#/a"}))


def test_following_tells_the_last_address() -> None:
    references = References(FILES)

    assert references.follow(LocatedNode(node={"$ref": "#/chain"}))[1] == "#/list/0"
    assert references.follow(LocatedNode(node={"x": 1}))[1] == ""


@pytest.mark.parametrize(
    ("file", "path", "expected"),
    [
        ("", "a.yaml", "a.yaml"),
        ("b/c.yaml", "a.yaml", "b/a.yaml"),
        ("b/c.yaml", "../a.yaml", "a.yaml"),
        ("b/c.yaml", "../../a.yaml", None),
        ("", "\\\\host\\a.yaml", None),
        ("", "a\0.yaml", None),
        ("", "http://host/a", None),
    ],
)
def test_paths_are_joined_inside_the_folder(file: str, path: str, expected: str | None) -> None:
    assert join_path(file, path) == expected
