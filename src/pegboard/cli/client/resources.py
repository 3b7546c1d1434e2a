"""The connectors and agents of a board that the command has opened, or of a server."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pegboard.cli.client.port import Answer, ResourceAction, ResourcesClient, ResourceScope
from pegboard.errors import ResourceNotFound

if TYPE_CHECKING:
    from pegboard.core.principal import Principal
    from pegboard.features.resources import Resources


class LocalResources:
    """Implements `ResourcesClient` on a board of this machine.

    Args:
        resources: The stored resources.
        principal: The caller.
    """

    def __init__(self, resources: "Resources", principal: "Principal") -> None:
        self._resources = resources
        self._principal = principal

    async def list(self, scope: ResourceScope = "visible") -> Answer:
        """Those that the caller sees, may review, or finds in the market."""
        service = self._resources
        if scope == "visible":
            found = await service.list(principal=self._principal)
        elif scope == "waiting":
            found = await service.list_waiting(principal=self._principal)
        else:
            found = await service.list_market(principal=self._principal)
        return {"resources": [view.to_dict() for view in found]}

    async def add(self, wanted: Mapping[str, Any]) -> Answer:
        """Add one."""
        from pegboard.features.resources import NewResource

        return (
            await self._resources.add(NewResource(**wanted), principal=self._principal)
        ).to_dict()

    async def change(self, name: str, changes: Mapping[str, Any]) -> Answer:
        """Change one."""
        from pegboard.features.resources import ResourceChange

        change = ResourceChange(**changes)
        id_ = find_id(await self.list(), name)
        return (await self._resources.change(id_, change, principal=self._principal)).to_dict()

    async def act(self, name: str, action: ResourceAction, body: Mapping[str, Any]) -> Answer:
        """Test, publish, withdraw, review, install or uninstall one."""
        from pegboard.features.resources.views import report_to_dict

        service, id_ = self._resources, await find_for(self, action, name)
        match action:
            case "test":
                return report_to_dict(await service.test(id_, principal=self._principal))
            case "publish":
                return (await service.publish(id_, principal=self._principal)).to_dict()
            case "withdraw":
                return (await service.withdraw(id_, principal=self._principal)).to_dict()
            case "review":
                return (await service.review(id_, principal=self._principal, **body)).to_dict()
            case "install":
                await service.subscribe(id_, principal=self._principal)
            case "uninstall":
                await service.unsubscribe(id_, principal=self._principal)
        return {}

    async def remove(self, name: str) -> None:
        """Delete one."""
        await self._resources.delete(find_id(await self.list(), name), principal=self._principal)


class RemoteResources:
    """Implements `ResourcesClient` over the HTTP API.

    Args:
        ask: Sends a request; returns the status and the answer.
        check: Returns the answer, or raises the error that it describes.
    """

    def __init__(
        self,
        ask: Callable[..., Awaitable[tuple[int, Answer]]],
        check: Callable[[int, Answer], Answer],
    ) -> None:
        self._ask = ask
        self._check = check

    async def list(self, scope: ResourceScope = "visible") -> Answer:
        """Those that the caller sees, may review, or finds in the market."""
        path = "/market" if scope == "market" else "/resources"
        query = {"waiting": "true"} if scope == "waiting" else {}
        return self._check(*await self._ask("GET", path, query=query))

    async def add(self, wanted: Mapping[str, Any]) -> Answer:
        """Add one."""
        return self._check(*await self._ask("POST", "/resources", body=dict(wanted)))

    async def change(self, name: str, changes: Mapping[str, Any]) -> Answer:
        """Change one."""
        path = _path_of(find_id(await self.list(), name))
        return self._check(*await self._ask("PATCH", path, body=dict(changes)))

    async def act(self, name: str, action: ResourceAction, body: Mapping[str, Any]) -> Answer:
        """Test, publish, withdraw, review, install or uninstall one."""
        path = _path_of(await find_for(self, action, name))
        if action in {"install", "uninstall"}:
            method = "POST" if action == "install" else "DELETE"
            self._check_done(*await self._ask(method, f"{path}/subscription"))
            return {}
        sent = dict(body) if action == "review" else None
        return self._check(*await self._ask("POST", f"{path}/{action}", body=sent))

    async def remove(self, name: str) -> None:
        """Delete one."""
        path = _path_of(find_id(await self.list(), name))
        self._check_done(*await self._ask("DELETE", path))

    def _check_done(self, status: int, answer: Answer) -> None:
        if status != _NO_CONTENT:
            self._check(status, answer)


_NO_CONTENT = 204
_SCOPES: Mapping[ResourceAction, ResourceScope] = {
    "test": "visible",
    "publish": "visible",
    "withdraw": "visible",
    "review": "waiting",
    "install": "market",
    "uninstall": "visible",
}
"""Where the resource of an action is looked for."""


async def find_for(client: "ResourcesClient", action: ResourceAction, name: str) -> str:
    """The id of the resource of an action, by its name or id.

    What is reviewed waits for it, or is shared with an organisation and seen.

    Raises:
        ResourceNotFound: As `find_listed`.
    """
    listed = await client.list(_SCOPES[action])
    if action == "review" and all(name not in (it["id"], it["name"]) for it in listed["resources"]):
        shared = (await client.list())["resources"]
        listed = {"resources": [*listed["resources"], *(it for it in shared if it["may_review"])]}
    return find_id(listed, name)


def find_id(listed: Answer, name: str) -> str:
    """The id of a listed resource by its name or id.

    Raises:
        ResourceNotFound: As `find_listed`.
    """
    return str(find_listed(listed, name)["id"])


def find_listed(listed: Answer, name: str) -> dict[str, Any]:
    """A listed resource by its name or id.

    Raises:
        ResourceNotFound: There is none; or a connector and an agent have this name.
    """
    found = [item for item in listed["resources"] if name in (item["id"], item["name"])]
    if len(found) == 1:
        return found[0]
    if found:
        ids = " or ".join(f"{item['id']} ({item['kind']})" for item in found)
        raise ResourceNotFound(f"'{name}' means several: write {ids}.")
    known = ", ".join(item["name"] for item in listed["resources"][:10])
    there = f"; there are: {known}" if known else ""
    raise ResourceNotFound(f"There is no '{name}' here{there}.")


def _path_of(id: str) -> str:  # noqa: A002 - it is known by its id
    return f"/resources/{quote(id, safe='')}"
