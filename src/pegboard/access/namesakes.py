"""The names by which rules know a tool: its own, and those of tools that run the same thing."""

from collections.abc import Iterator, Mapping

from pegboard.core.tool import ToolSpec


def names_of(tool: ToolSpec) -> tuple[str, ...]:
    """The wire name of a tool, and the one under which it was registered if a view renamed it."""
    return (tool.name, tool.registered_name) if tool.registered_name else (tool.name,)


def other_names_of(tool: ToolSpec) -> tuple[str, ...]:
    """Further names by which a rule that restricts knows a tool: its alias, and its function's."""
    own = tool.target.partition("#")[0].rpartition(":")[2].rpartition(".")[2]
    is_other = own.isidentifier() and own != (tool.action or tool.name)
    function = own if is_other and not own.startswith("__") else ""
    return tuple(name for name in (tool.alias, function) if name)


class Namesakes:
    """The names of the tools of a registry, by what they run (`ToolSpec.target`).

    ```python
    namesakes = Namesakes()
    namesakes.put("refund", "shop.tools:refund")
    namesakes.put("pay_back", "shop.tools:refund")
    list(namesakes.find("shop.tools:refund"))  # ["refund", "pay_back"]
    ```
    """

    def __init__(self) -> None:
        self._targets: dict[str, str] = {}
        self._names: dict[str, dict[str, None]] = {}
        self._bases: set[str] = set()

    def put(self, name: str, target: str) -> bool:
        """Set what a tool runs, empty for unknown; whether this may concern other tools."""
        before = self._targets.get(name, "")
        if before == target:
            return False
        concerns_others = self.remove(name)
        if target:
            self._targets[name] = target
            self._names.setdefault(target, {})[name] = None
            base, mark, _ = target.partition("#")
            if mark:
                self._bases.add(base)
            concerns_others |= len(self._names[target]) > 1 or target in self._bases
        return concerns_others

    def remove(self, name: str) -> bool:
        """Forget a tool; whether this may concern other tools."""
        target = self._targets.pop(name, "")
        if not target:
            return False
        left = self._names[target]
        del left[name]
        if not left:
            del self._names[target]
        return bool(left) or target in self._bases

    def find(self, target: str) -> Iterator[str]:
        """The names of the tools that run this, or the function that this is made of."""
        yield from self._names.get(target, ())
        base, mark, _ = target.partition("#")
        if mark:
            yield from self._names.get(base, ())

    def update(self, other: "Namesakes") -> None:
        """Take all tools of another registry, which stays as it is."""
        for name, target in other.targets().items():
            self.put(name, target)

    def targets(self) -> Mapping[str, str]:
        """What each tool runs, by its name."""
        return self._targets
