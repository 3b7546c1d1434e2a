"""Resources and prompts: they pass visibility and the path of a call like tools."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pegboard.access import decide
from pegboard.core.context import ToolContext
from pegboard.core.decision import Action
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.resources_and_prompts import (
    Completer,
    Completion,
    FilledPrompt,
    Prompt,
    Resource,
    split_board_uri,
)
from pegboard.core.result import ResourcePart
from pegboard.core.uri_templates import match_uri
from pegboard.errors import DuplicateTool, ToolNotFound
from pegboard.registry.change_notifier import Changes
from pegboard.registry.resource_tools import OfferedPrompt, ResourceTool

if TYPE_CHECKING:
    from pegboard.execution import CallEnvironment, Pipeline


class Offers:
    """What there is beside tools, by URI and by name.

    ```python
    registry.offers.add_resource(handbook)
    parts = await registry.offers.read("docs://handbook")
    ```
    """

    def __init__(self, kit: "CallEnvironment", changes: Changes) -> None:
        self._kit = kit
        self._changes = changes
        self._resources: dict[str, ResourceTool] = {}
        self._prompts: dict[str, OfferedPrompt] = {}
        self._calls: Pipeline | None = None

    def apply(self, kit: "CallEnvironment") -> None:
        """Judge and run with another kit from now on."""
        self._kit, self._calls = kit, None

    # what exists

    def add_resource(self, resource: Resource) -> None:
        """Offer a resource or a template.

        Raises:
            DuplicateTool: The URI is taken.
        """
        offered = ResourceTool(resource)
        known = self._resources.get(offered.uri)
        if known is not None and known.resource is not resource:
            raise DuplicateTool(offered.uri, "another resource", "this one")
        self._resources[offered.uri] = offered
        self._changes.tell("resources")

    def add_prompt(self, prompt: Prompt) -> None:
        """Offer a prompt.

        Raises:
            DuplicateTool: The name is taken.
        """
        offered = OfferedPrompt(prompt)
        known = self._prompts.get(prompt.spec.name)
        if known is not None and known.prompt is not prompt:
            raise DuplicateTool(prompt.spec.name, "another prompt", "this one")
        self._prompts[prompt.spec.name] = offered
        self._changes.tell("prompts")

    def replace(
        self, source: str, *, resources: Iterable[Resource], prompts: Iterable[Prompt]
    ) -> None:
        """Offer for this source these and nothing else; told once, and only when they differ."""
        new_resources = {item.uri: item for item in map(ResourceTool, resources)}
        new_prompts = {item.prompt.spec.name: item for item in map(OfferedPrompt, prompts)}
        old_resources = {u: i for u, i in self._resources.items() if i.spec.source == source}
        old_prompts = {n: i for n, i in self._prompts.items() if i.spec.source == source}
        self._resources = {
            uri: item for uri, item in self._resources.items() if uri not in old_resources
        } | new_resources
        self._prompts = {
            name: item for name, item in self._prompts.items() if name not in old_prompts
        } | new_prompts
        if self._calls is not None:
            self._calls.forget_all()
        if _specs(old_resources.values()) != _specs(new_resources.values()):
            self._changes.tell("resources")
        if _specs(old_prompts.values()) != _specs(new_prompts.values()):
            self._changes.tell("prompts")

    def updated(self, uri: str) -> None:
        """The contents of the resource of this board URI changed."""
        self._changes.tell("resource", uri)

    # what this caller may see

    def resources(self, principal: Principal = LOCAL) -> list[ResourceTool]:
        """Resources and templates that this caller may read, in the order of registration."""
        return [item for item in self._resources.values() if self._may_see(principal, item)]

    def prompts(self, principal: Principal = LOCAL) -> list[OfferedPrompt]:
        """Prompts that this caller may use, in the order of registration."""
        return [item for item in self._prompts.values() if self._may_see(principal, item)]

    # using them

    async def read(self, uri: str, ctx: ToolContext[Any] | None = None) -> Sequence[ResourcePart]:
        """The contents of a resource, recorded like a call.

        Raises:
            ToolNotFound: There is none that this caller may see.
            PegboardError: It could not be read.
        """
        offered = self._resource(uri, _principal(ctx))
        _, own = split_board_uri(uri)
        result = await self._pipeline().call(offered.spec.name, {"uri": own}, ctx)
        result.unwrap()
        return offered.parts(result)

    async def fill(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        ctx: ToolContext[Any] | None = None,
    ) -> FilledPrompt:
        """A prompt with its arguments in place, recorded like a call.

        Raises:
            ToolNotFound: There is none that this caller may see.
            ToolArgumentError: An argument is missing or unknown.
            PegboardError: It could not be filled in.
        """
        offered = self._prompt(name, _principal(ctx))
        result = await self._pipeline().call(offered.spec.name, dict(arguments or {}), ctx)
        result.unwrap()
        return offered.filled(result)

    async def complete(
        self,
        of: str,
        argument: str,
        value: str,
        *,
        given: Mapping[str, str] | None = None,
        ctx: ToolContext[Any] | None = None,
    ) -> Completion:
        """What an argument of a prompt (by name) or of a template (by URI) may be.

        Raises:
            ToolNotFound: There is none that this caller may see.
        """
        principal = _principal(ctx)
        thing: Prompt | Resource
        if of in self._prompts:
            thing = self._prompt(of, principal).prompt
        else:
            thing = self._resource(of, principal).resource
        if not isinstance(thing, Completer):
            return Completion()
        return await thing.complete(argument, value, given or {}, ctx or ToolContext())

    def _resource(self, uri: str, principal: Principal) -> ResourceTool:
        found = self._resources.get(uri) or self._by_template(uri)
        if found is None or not self._may_see(principal, found):
            raise ToolNotFound(uri)
        return found

    def _by_template(self, uri: str) -> ResourceTool | None:
        source, own = split_board_uri(uri)
        for item in self._resources.values():
            spec = item.resource.spec
            if spec.is_template and spec.source == source and match_uri(spec.uri, own) is not None:
                return item
        return None

    def _prompt(self, name: str, principal: Principal) -> OfferedPrompt:
        found = self._prompts.get(name)
        if found is None or not self._may_see(principal, found):
            raise ToolNotFound(name)
        return found

    def _may_see(self, principal: Principal, offered: ResourceTool | OfferedPrompt) -> bool:
        kit = self._kit
        return decide(
            principal, offered.spec, Action.LIST, policy=kit.policy, switches=kit.switches
        ).allowed

    def _pipeline(self) -> "Pipeline":
        if self._calls is None:
            from pegboard.execution import Pipeline

            self._calls = Pipeline(self._find, lambda _, __: (), self._kit)
        return self._calls

    def _find(self, name: str) -> ResourceTool | OfferedPrompt | None:
        prompt = self._prompts.get(name)
        if prompt is not None:
            return prompt
        return next((item for item in self._resources.values() if item.spec.name == name), None)


def _specs(items: Iterable[ResourceTool | OfferedPrompt]) -> list[object]:
    return [
        item.resource.spec if isinstance(item, ResourceTool) else item.prompt.spec for item in items
    ]


def _principal(ctx: ToolContext[Any] | None) -> Principal:
    return LOCAL if ctx is None else ctx.principal
