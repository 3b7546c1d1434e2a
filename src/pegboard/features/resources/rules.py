"""The rules of stored resources: names, who may change and share them, and reviews."""

from pegboard.access.roles import ADMINISTRATOR, EDITOR
from pegboard.core.ports.accounts.resource_store import PublishStatus, StoredResource
from pegboard.core.principal import Principal
from pegboard.core.wire_names import OWNER_MARK, is_source_name
from pegboard.errors import AccessDenied, InvalidRequest
from pegboard.features.permissions import PEOPLE_SCOPE

_SHARING = (ADMINISTRATOR, EDITOR)
_DESCRIBED = ("skill", "agent")
"""The kinds whose descriptions the models of members are shown."""
REVIEWABLE: tuple[PublishStatus, ...] = ("pending", "approved", "rejected")
"""The statuses in which reviewers of the organisation see a resource."""


def join_name(owner: str, name: str) -> str:
    """The name of a new resource: behind the handle of its owner, or plain without one.

    Raises:
        InvalidRequest: It breaks the rule.
    """
    full = f"{owner}{OWNER_MARK}{name}" if owner else name
    if OWNER_MARK in name or not is_source_name(name) or not is_source_name(full):
        behind = f" behind '{owner}{OWNER_MARK}'" if owner else ""
        raise InvalidRequest(
            f"'{name[:60]}' cannot be a name: letters, digits, single '_' and '-', at most "
            f"{30 - len(full) + len(name)} characters{behind}."
        )
    return full


def owner_of(principal: Principal) -> str:
    """The owner of what a caller adds; without accounts it is the first operator's later."""
    return principal.user or principal.id


def may_edit(principal: Principal, resource: StoredResource) -> bool:
    """Whether a caller may change a resource: its owner, and of a global one any operator."""
    if resource.owner == owner_of(principal):
        return True
    return principal.is_operator and (resource.visibility == "global" or not principal.user)


def may_review(principal: Principal, resource: StoredResource) -> bool:
    """Whether a caller may review a resource: an operator or administrator, never its owner.

    Without accounts there is nobody else.
    """
    if resource.publish_status not in REVIEWABLE:
        return False
    if not principal.user:
        return principal.is_operator
    is_other = resource.owner != principal.user
    return is_other and principal.has_scope_in(resource.organisation, PEOPLE_SCOPE)


def may_vouch(principal: Principal, resource: StoredResource) -> bool:
    """Whether a caller may approve a shared skill or agent for its organisation, or end that.

    It is for another administrator there, while the resource is not on its way into the market.
    """
    is_shared = resource.visibility == "organisation" and resource.publish_status == "none"
    is_other = principal.user not in {"", resource.owner}
    return (
        resource.kind in _DESCRIBED
        and is_shared
        and is_other
        and resource.organisation in principal.organisations
        and principal.has_scope_in(resource.organisation, PEOPLE_SCOPE)
    )


def check_sharing(principal: Principal, resource: StoredResource) -> None:
    """Refuse a resource that is shared with those that this caller may not share with.

    Raises:
        InvalidRequest: It is shared with no organisation.
        AccessDenied: The caller may not share there.
    """
    if resource.visibility == "global" and not principal.is_operator:
        raise AccessDenied(resource.name, "only operators make something global")
    if resource.visibility != "organisation":
        return
    if not resource.organisation:
        raise InvalidRequest("Give the organisation that it is shared with.")
    roles = {f"{resource.organisation}/{role}" for role in _SHARING}
    if roles.isdisjoint(principal.roles):
        raise AccessDenied(
            resource.name,
            f"sharing with an organisation needs the role {' or '.join(_SHARING)} in it",
        )


def find_next_status(resource: StoredResource) -> PublishStatus:
    """The status of a resource once its content is changed: it is reviewed again."""
    if resource.publish_status == "approved":
        return "pending"
    return "draft" if resource.publish_status == "rejected" else resource.publish_status
