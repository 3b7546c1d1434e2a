"""Conversations: people ask, agents answer, and everything is stored."""

from pegboard.features.conversations.answers import ConversationAnswers
from pegboard.features.conversations.history import ConversationHistory, read_history
from pegboard.features.conversations.message_files import MessageFile, MessageUpload
from pegboard.features.conversations.new_message import NewMessage
from pegboard.features.conversations.service import Conversations
from pegboard.features.conversations.stream import ChatEvent

__all__ = [
    "ChatEvent",
    "ConversationAnswers",
    "ConversationHistory",
    "Conversations",
    "MessageFile",
    "MessageUpload",
    "NewMessage",
    "read_history",
]
