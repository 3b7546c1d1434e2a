"""What a server knows of the stored resources follows the changes that it reads."""

from tests.storage.test_resources import LISTED, SUBSCRIBED, a_resource

from pegboard.core.ports.accounts.resource_store import ResourceChanges
from pegboard.runtime.sources.known_resources import KnownResources


def test_changes_are_added_to_what_is_known_and_what_is_deleted_is_forgotten() -> None:
    known = KnownResources()
    first, second = a_resource("r1"), a_resource("r2", "ada--gitlab")
    known.apply(
        ResourceChanges(
            version=1,
            ids=frozenset({"r1", "r2"}),
            resources=(first, second),
            definitions={"r1": (LISTED,), "r2": (LISTED,)},
            subscriptions=(SUBSCRIBED,),
        )
    )
    changed = a_resource("r2", "ada--gitlab", revision=2)
    known.apply(ResourceChanges(version=2, ids=frozenset({"r2"}), resources=(changed,)))

    assert (known.version, known.subscriptions) == (2, ())
    assert known.resources == {"r2": changed}
    assert known.definitions == {"r2": (LISTED,)}
    assert known.listed == {"r1", "r2"}
