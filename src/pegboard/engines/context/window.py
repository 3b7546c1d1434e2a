"""Layer 4: the oldest messages are left out, calls together with their results."""

from bisect import bisect_left

from pegboard.engines.context.view import ContextView


def drop_oldest(view: ContextView, *, room: int, target: int, keep_turns: int) -> ContextView:
    """Leave out the oldest messages of a request that does not fit.

    The system prompt, the last turns with their results and what people say to this run stay.

    Args:
        view: The conversation.
        room: Tokens that a request may have.
        target: Tokens that a request has afterwards, where the last turns allow it: much is left
            out at once, so that the beginning of requests changes seldom.
        keep_turns: The last turns, which stay; at least one.
    """
    last = view.last_turns(max(1, keep_turns))
    starts = [start for start in view.starts() if view.start < start <= last]
    if view.tokens <= room or not starts or view.count_omitted(starts[-1]) == 0:
        return view
    place = bisect_left(starts, -target, key=lambda start: -view.replace(omitted=start).tokens)
    return view.replace(omitted=starts[min(place, len(starts) - 1)])
