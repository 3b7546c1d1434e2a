"""What changed between the texts of a document, and which answers cite it."""

import httpx2
import pytest
from tests.servers.http.routes.knowledge.test_bases import NEW, OLD, ORDERS, add, make_base, settle

QUESTION = {"question": "Within how many days can a record be returned?"}


async def test_a_new_text_is_shown_beside_the_one_before_counts_first(
    client: httpx2.AsyncClient,
) -> None:
    base = await make_base(client)
    document = (await add(client, base, "returns.md", OLD))["document"]["id"]
    await settle(client, base)
    place = f"/knowledge/{base}/documents/{document}/changes"
    first = (await client.get(place)).json()
    assert (first["since"], first["until"], first["passages"]) == (0, 1, [])
    await add(client, base, "returns.md", NEW + "\nThe parcel costs nothing.\n")
    await settle(client, base)

    changes = (await client.get(place)).json()

    counts = ("since", "until", "current_revision", "added", "removed", "changed", "pages")
    assert [changes[name] for name in counts] == [1, 2, 2, 0, 0, 1, 0]
    (passage,) = changes["passages"]
    assert passage["before"]["text"] == OLD.split("\n\n")[1].strip()
    assert passage["after"]["text"].endswith("The parcel costs nothing.")
    one = await client.get(place, params={"since": 2, "until": 1})
    assert one.status_code == 400
    assert (await client.get(place, params={"until": 9})).status_code == 404


async def test_passages_come_a_page_at_a_time_and_are_cut(client: httpx2.AsyncClient) -> None:
    base = await make_base(client)
    before = "\n\n".join(f"Rule {number} stays." for number in range(9))
    document = (await add(client, base, "rules.md", before))["document"]["id"]
    await settle(client, base)
    after = "\n\n".join(f"Rule {n} stays.\n\nNew {n} {'x' * 3_000}" for n in range(9))
    await add(client, base, "rules.md", after)
    await settle(client, base)
    place = f"/knowledge/{base}/documents/{document}/changes"

    first = (await client.get(place, params={"limit": 5})).json()
    rest = (await client.get(place, params={"limit": 5, "start": first["next_start"]})).json()

    assert (first["added"], first["next_start"], rest["next_start"]) == (9, 5, None)
    assert [len(it["after"]["text"]) for it in first["passages"] + rest["passages"]] == [2_000] * 9
    assert all(it["before"] is None for it in first["passages"])


@pytest.mark.slow
async def test_a_text_that_waits_for_its_review_says_what_its_new_passages_contain(
    client: httpx2.AsyncClient,
) -> None:
    base = await make_base(client)
    document = (await add(client, base, "letter.html", "<p>Our prices are low.</p>"))["document"]
    await settle(client, base)
    await add(client, base, "letter.html", ORDERS)
    (held,) = await settle(client, base)
    assert held["state"] == "held"

    place = f"/knowledge/{base}/documents/{document['id']}/changes"
    changes = (await client.get(place)).json()

    assert (changes["until"], changes["current_revision"]) == (2, 1)
    assert "hidden" in changes["passages"][0]["after"]["contains"]


async def test_answers_that_cite_a_document_are_listed_and_what_was_only_found_is_not(
    client: httpx2.AsyncClient,
) -> None:
    base = await make_base(client)
    document = (await add(client, base, "returns.md", NEW))["document"]["id"]
    await settle(client, base)
    place = f"/knowledge/{base}/documents/{document}/answers"
    asked = (await client.post(f"/knowledge/{base}/ask", json=QUESTION)).json()
    await client.post(f"/knowledge/{base}/ask", json={**QUESTION, "mode": "simple"})

    (answer,) = (await client.get(place)).json()["answers"]

    assert (answer["kind"], answer["id"]) == ("ask", asked["call"])
    assert (answer["title"], answer["numbers"]) == (
        QUESTION["question"],
        [quote["number"] for quote in asked["quotes"]],
    )
