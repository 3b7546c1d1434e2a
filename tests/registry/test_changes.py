from pegboard.registry.changes import Changes


def test_listeners_are_told_until_they_stop() -> None:
    changes = Changes()
    heard: list[tuple[str, str]] = []
    stop = changes.listen(lambda kind, uri: heard.append((kind, uri)))

    changes.tell("tools")
    changes.tell("resource", "board://a/b://c")
    stop()
    changes.tell("prompts")

    assert heard == [("tools", ""), ("resource", "board://a/b://c")]
