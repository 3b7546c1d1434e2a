"""The kinds of sources that people connect."""

from pegboard.runtime.sources.kinds import list_connectable_kinds


def test_kinds_that_need_the_server_s_own_machine_are_left_out() -> None:
    kinds = {item.kind for item in list_connectable_kinds()}

    assert {"openapi", "mcp", "sql"} <= kinds
    assert kinds.isdisjoint({"script", "functions", "langchain"})


def test_each_kind_says_what_its_form_asks_first() -> None:
    first = {
        item.kind: [
            name
            for name, schema in item.config_schema["properties"].items()
            if schema.get("x-first")
        ]
        for item in list_connectable_kinds()
    }

    assert (first["openapi"], first["mcp"]) == (["document", "base_url"], ["url"])
    assert first["sql"] == ["url", "description"]
