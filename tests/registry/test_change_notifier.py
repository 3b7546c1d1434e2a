import pytest

from pegboard.registry.change_notifier import ChangeNotifier


def test_listeners_are_told_until_they_stop() -> None:
    changes = ChangeNotifier()
    heard: list[tuple[str, str]] = []
    stop = changes.listen(lambda kind, uri: heard.append((kind, uri)))

    changes.notify("tools")
    changes.notify("resource", "board://a/b://c")
    stop()
    changes.notify("prompts")

    assert heard == [("tools", ""), ("resource", "board://a/b://c")]


def test_many_changes_are_told_once_and_at_the_end() -> None:
    changes = ChangeNotifier()
    heard: list[tuple[str, str]] = []
    changes.listen(lambda kind, uri: heard.append((kind, uri)))

    with changes.together():
        changes.notify("tools")
        with changes.together():
            changes.notify("tools")
            changes.notify("resource", "board://a/b://c")
        assert heard == []
    changes.notify("prompts")

    assert heard == [("tools", ""), ("resource", "board://a/b://c"), ("prompts", "")]


def test_what_was_changed_before_a_failure_is_told() -> None:
    changes = ChangeNotifier()
    heard: list[str] = []
    changes.listen(lambda kind, _uri: heard.append(kind))

    def fail() -> None:
        with changes.together():
            changes.notify("tools")
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    assert heard == ["tools"]
