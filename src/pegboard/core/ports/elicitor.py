"""Whoever is behind a call, when they can be asked something while it runs."""

from typing import Protocol

from pegboard.core.elicitation import Answer, Question, Sample, SampleRequest


class Elicitor(Protocol):
    """A caller that can be asked; a door makes one for each call."""

    @property
    def takes_questions(self) -> bool:
        """Whether a person can be asked."""
        ...

    @property
    def takes_samples(self) -> bool:
        """Whether the caller's model can be asked."""
        ...

    async def ask(self, question: Question) -> Answer:
        """Ask the person and wait for the answer.

        Raises:
            NobodyToAsk: This caller takes no questions.
            Unavailable: The caller went away.
        """
        ...

    async def sample(self, request: SampleRequest) -> Sample:
        """Ask the caller's model.

        Raises:
            NobodyToAsk: This caller has no model to ask.
            Unavailable: The caller went away.
            ToolFailed: The caller refused.
        """
        ...
