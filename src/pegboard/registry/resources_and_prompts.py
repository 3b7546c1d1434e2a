"""The resources and prompts of a registry: visibility and calls as for tools."""

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
from pegboard.core.text.uri_templates import match_uri
from pegboard.core.tool import ToolSpec
from pegboard.errors import DuplicateTool, ToolNotFound
from pegboard.registry.change_notifier import ChangeNotifier
from pegboard.registry.resource_tools import PromptTool, ResourceTool

if TYPE_CHECKING:
    from pegboard.execution import CallEnvironment, Pipeline


class ResourcesAndPrompts:
    """Resources by URI and prompts by name.

    ```python
    registry.offers.add_resource(handbook)
    parts = await registry.offers.read("docs://handbook")
    ```
    """

    def __init__(self, environment: "CallEnvironment", changes: ChangeNotifier) -> None:
        self._environment = environment
        self._changes = changes
        self._resources: dict[str, ResourceTool] = {}
        self._prompts: dict[str, PromptTool] = {}
        self._calls: Pipeline | None = None

    def apply(self, environment: "CallEnvironment") -> None:
        """Use another environment from now on."""
        self._environment, self._calls = environment, None

    # registration

    def add_resource(self, resource: Resource) -> None:
        """Add a resource or a template.

        Raises:
            DuplicateTool: The URI is taken.
        """
        offered = ResourceTool(resource)
        known = self._resources.get(offered.uri)
        if known is not None and known.resource is not resource:
            raise DuplicateTool(offered.uri, "another resource", "this one")
        self._resources[offered.uri] = offered
        self._changes.notify("resources")

    def add_prompt(self, prompt: Prompt) -> None:
        """Add a prompt.

        Raises:
            DuplicateTool: The name is taken.
        """
        offered = PromptTool(prompt)
        known = self._prompts.get(prompt.spec.name)
        if known is not None and known.prompt is not prompt:
            raise DuplicateTool(prompt.spec.name, "another prompt", "this one")
        self._prompts[prompt.spec.name] = offered
        self._changes.notify("prompts")

    def replace(
        self, source: str, *, resources: Iterable[Resource], prompts: Iterable[Prompt]
    ) -> None:
        """Replace everything of a source; listeners are notified once, and only of a difference."""
        new_resources = {item.uri: item for item in map(ResourceTool, resources)}
        new_prompts = {item.prompt.spec.name: item for item in map(PromptTool, prompts)}
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
            self._changes.notify("resources")
        if _specs(old_prompts.values()) != _specs(new_prompts.values()):
            self._changes.notify("prompts")

    def notify_update(self, uri: str) -> None:
        """Notify listeners that the contents of a resource have changed, by its board URI."""
        self._changes.notify("resource", uri)

    # visibility

    def resources(self, principal: Principal = LOCAL) -> list[ResourceTool]:
        """Resources and templates that this caller may read, in the order of registration."""
        return [item for item in self._resources.values() if self._may_see(principal, item)]

    def prompts(self, principal: Principal = LOCAL) -> list[PromptTool]:
        """Prompts that this caller may use, in the order of registration."""
        return [item for item in self._prompts.values() if self._may_see(principal, item)]

    def specs(self) -> list[ToolSpec]:
        """The specifications of all resources and prompts, as the policy sees them."""
        return [item.spec for item in (*self._resources.values(), *self._prompts.values())]

    # use

    async def read(self, uri: str, ctx: ToolContext[Any] | None = None) -> Sequence[ResourcePart]:
        """Read the contents of a resource; recorded like a call.

        Raises:
            ToolNotFound: No such resource that this caller may see.
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
        """Fill a prompt with its arguments; recorded like a call.

        Raises:
            ToolNotFound: No such prompt that this caller may see.
            ToolArgumentError: An argument is missing or unknown.
            PegboardError: It could not be filled.
        """
        offered = self._prompt(name, _principal(ctx))
        result = await self._pipeline().call(offered.spec.name, dict(arguments or {}), ctx)
        result.unwrap()
        return offered.to_prompt(result)

    async def complete(
        self,
        of: str,
        argument: str,
        value: str,
        *,
        given: Mapping[str, str] | None = None,
        ctx: ToolContext[Any] | None = None,
    ) -> Completion:
        """Suggestions for an argument of a prompt (by name) or of a template (by URI).

        Raises:
            ToolNotFound: No such prompt or template that this caller may see.
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

    def _prompt(self, name: str, principal: Principal) -> PromptTool:
        found = self._prompts.get(name)
        if found is None or not self._may_see(principal, found):
            raise ToolNotFound(name)
        return found

    def _may_see(self, principal: Principal, offered: ResourceTool | PromptTool) -> bool:
        environment = self._environment
        return decide(
            principal,
            offered.spec,
            Action.LIST,
            policy=environment.policy,
            switches=environment.switches,
        ).allowed

    def _pipeline(self) -> "Pipeline":
        if self._calls is None:
            from pegboard.execution import Pipeline

            self._calls = Pipeline(self._find, lambda _, __: (), self._environment)
        return self._calls

    def _find(self, name: str) -> ResourceTool | PromptTool | None:
        prompt = self._prompts.get(name)
        if prompt is not None:
            return prompt
        return next((item for item in self._resources.values() if item.spec.name == name), None)


def _specs(items: Iterable[ResourceTool | PromptTool]) -> list[object]:
    return [
        item.resource.spec if isinstance(item, ResourceTool) else item.prompt.spec for item in items
    ]


def _principal(ctx: ToolContext[Any] | None) -> Principal:
    return LOCAL if ctx is None else ctx.principal
