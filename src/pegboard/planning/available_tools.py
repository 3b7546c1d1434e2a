"""The tools that a caller may use in a plan, and their ids in it."""

from collections.abc import Callable, Sequence

from pegboard.core.principal import Principal
from pegboard.core.tool import Tool, ToolSpec
from pegboard.planning.candidates import usable
from pegboard.registry import ToolRegistry

Prerequisites = Callable[[str], Sequence[str]]
"""The ids of the tools that must have run before the tool of this id."""


class AvailableTools:
    """The tools that one caller may call.

    Args:
        registry: What there is.
        principal: For whom.
        prerequisites: What has to run before a tool, by id.

    Attributes:
        tools: The current versions, in the order of registration.
    """

    def __init__(
        self, registry: ToolRegistry, principal: Principal, prerequisites: Prerequisites
    ) -> None:
        self._registry = registry
        self._principal = principal
        self._prerequisites = prerequisites
        self.tools: Sequence[Tool] = usable(registry, principal, registry.environment)

    def find(self, name: str) -> Tool | None:
        """The tool of a name, an id or a pin, an older version where that is meant."""
        tool = self._registry.find(name)
        return tool if tool is not None and self.may_call(tool) else None

    def may_call(self, tool: Tool) -> bool:
        """Whether this caller may, be it after an approval."""
        return bool(usable([tool], self._principal, self._registry.environment))

    def id_of(self, tool: Tool) -> str:
        """What a plan calls a tool: its id, which stays with the major version.

        A name goes on to the next one, and what was wired for this one need not fit that.
        """
        spec = tool.spec
        return spec.id if self._registry.find(spec.id) is tool else spec.name

    def prerequisites_of(self, spec: ToolSpec) -> list[Tool | str]:
        """What must have run before, as tools where they exist, by id where they do not."""
        return [self._registry.find(item) or item for item in self._prerequisites(spec.id)]

    def is_whole(self, spec: ToolSpec) -> bool:
        """Whether this caller may call all that must have run before."""
        needed = self.prerequisites_of(spec)
        return not any(isinstance(item, str) or not self.may_call(item) for item in needed)

    def runs_before(self, tool: Tool) -> set[str]:
        """The ids of all tools that have to run before this one."""
        found: set[str] = set()
        left = [tool]
        while left:
            for item in self.prerequisites_of(left.pop().spec):
                if not isinstance(item, str) and item.spec.id not in found:
                    found.add(item.spec.id)
                    left.append(item)
        return found
