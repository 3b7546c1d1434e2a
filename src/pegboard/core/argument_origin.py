"""Where the arguments of a call come from, in a run that has read untrusted text."""

from typing import Literal

from msgspec import Struct

Origin = Literal["caller", "write", "result", "text", "unknown"]


class ArgumentOrigin(Struct, frozen=True, kw_only=True):
    """Where one argument comes from.

    Attributes:
        argument: Its path, as `recipients[0]`.
        origin: `caller` for the messages of the caller, `write` for the result of a write of this
            run, `result` for a whole value in another result, `text` for a part of untrusted text,
            `unknown` for none of these.
        call_id: The call whose result it comes from; empty for none.
        tool: The tool of that call.
        is_named: Whether the caller has named it, so that it is no reason to ask.
    """

    argument: str
    origin: Origin
    call_id: str = ""
    tool: str = ""
    is_named: bool = False


class ArgumentOrigins(Struct, frozen=True, kw_only=True):
    """Where the arguments of a call come from.

    Attributes:
        arguments: In the order of the call; texts that may say anything are left out.
        reason: Why the call is no wish of its caller for certain; empty where it is one.
        carries_text: Whether it has text that the caller has not written.
    """

    arguments: tuple[ArgumentOrigin, ...] = ()
    reason: str = ""
    carries_text: bool = False

    @property
    def are_named(self) -> bool:
        """Whether the caller has named what the call acts on."""
        return not self.reason
