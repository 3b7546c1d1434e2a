"""Citations as annotations of OpenAI's API."""

from pegboard.core.knowledge import Citation
from pegboard.servers.http.openai.annotations import make_file_annotations, make_url_annotations


def cite(number: int, page: int = 0) -> Citation:
    return Citation(
        number=number,
        piece="p",
        document=f"d{number}",
        base="board:handbook",
        quote="30 days",
        start=0,
        end=7,
        title="Returns",
        page=page,
    )


def test_each_number_is_a_place_of_the_text() -> None:
    text = "Within 30 days [1, 2]. See [3]."

    made = make_url_annotations(text, [cite(1, page=4), cite(2)])

    assert [item["url_citation"]["url"] for item in made] == [
        "board://knowledge/board%3Ahandbook/d1#page=4",
        "board://knowledge/board%3Ahandbook/d2",
    ]
    places = [item["url_citation"] for item in made]
    assert {text[it["start_index"] : it["end_index"]] for it in places} == {"[1, 2]"}
    assert places[0]["title"] == "Returns, page 4"


def test_a_response_names_the_file() -> None:
    (made,) = make_file_annotations("Within 30 days [1].", [cite(1)])

    assert (made["file_id"], made["index"], made["quote"]) == ("d1", 15, "30 days")
