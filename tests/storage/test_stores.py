"""Which class keeps what: each part of a storage has one in memory and one in a database."""

from typing import Any

import pytest

from pegboard.core.stores.memory_approvals import MemoryApprovals
from pegboard.core.stores.memory_results import MemoryOutcomes, MemoryResults
from pegboard.core.stores.memory_taints import MemoryTaints
from pegboard.storage import Storage
from pegboard.storage.knowledge.lazy_index import LazyKnowledgeIndex
from pegboard.storage.memory.audit import MemoryAudit
from pegboard.storage.memory.calls import MemoryCalls
from pegboard.storage.memory.catalogue import MemoryCatalogue
from pegboard.storage.memory.conversations import MemoryConversations
from pegboard.storage.memory.credentials import MemoryCredentials
from pegboard.storage.memory.dependencies import MemoryDependencies
from pegboard.storage.memory.documents import MemoryDocuments
from pegboard.storage.memory.evidence import MemoryEvidence
from pegboard.storage.memory.files import MemoryFiles
from pegboard.storage.memory.identity import MemoryIdentity
from pegboard.storage.memory.kill_switches import MemorySwitches
from pegboard.storage.memory.knowledge_index import MemoryKnowledgeIndex
from pegboard.storage.memory.last_known_tools import MemorySeenTools
from pegboard.storage.memory.maintenance import MemoryUpkeep
from pegboard.storage.memory.pins import MemoryPins
from pegboard.storage.memory.quotas import MemoryQuotas
from pegboard.storage.memory.resources import MemoryResources
from pegboard.storage.memory.roles import MemoryRoles
from pegboard.storage.memory.run_journal import MemoryRunJournal
from pegboard.storage.memory.runs import MemoryRuns
from pegboard.storage.memory.tool_vectors import MemoryToolVectors
from pegboard.storage.sql.accounts.credentials import SqlCredentials
from pegboard.storage.sql.accounts.files import SqlFiles
from pegboard.storage.sql.accounts.identity import SqlIdentity
from pegboard.storage.sql.accounts.quotas import SqlQuotas
from pegboard.storage.sql.accounts.resources import SqlResources
from pegboard.storage.sql.accounts.roles import SqlRoles
from pegboard.storage.sql.approvals import SqlApprovals
from pegboard.storage.sql.audit import SqlAudit, SqlAuditor
from pegboard.storage.sql.call_recorder import SqlRecorder
from pegboard.storage.sql.catalogue import SqlCatalogue
from pegboard.storage.sql.conversations import SqlConversations
from pegboard.storage.sql.dependencies import SqlDependencies
from pegboard.storage.sql.history import SqlHistory
from pegboard.storage.sql.kill_switches import SqlSwitches
from pegboard.storage.sql.knowledge.documents import SqlDocuments
from pegboard.storage.sql.knowledge.evidence import SqlEvidence
from pegboard.storage.sql.knowledge.index import SqlKnowledgeIndex
from pegboard.storage.sql.last_known_tools import SqlSeenTools
from pegboard.storage.sql.maintenance import SqlUpkeep
from pegboard.storage.sql.outcomes import SqlOutcomes
from pegboard.storage.sql.pins import SqlPins
from pegboard.storage.sql.results import SqlResults
from pegboard.storage.sql.run_journal import SqlRunJournal
from pegboard.storage.sql.runs import SqlRuns
from pegboard.storage.sql.storage import SqlStorage
from pegboard.storage.sql.taints import SqlTaints
from pegboard.storage.sql.tool_vectors import SqlToolVectors

PARTS: dict[str, tuple[type[Any], type[Any]]] = {
    "listener": (MemoryCalls, SqlRecorder),
    "journal": (MemoryCalls, SqlRecorder),
    "history": (MemoryCalls, SqlHistory),
    "results": (MemoryResults, SqlResults),
    "outcomes": (MemoryOutcomes, SqlOutcomes),
    "catalogue": (MemoryCatalogue, SqlCatalogue),
    "pins": (MemoryPins, SqlPins),
    "seen_tools": (MemorySeenTools, SqlSeenTools),
    "switches": (MemorySwitches, SqlSwitches),
    "dependencies": (MemoryDependencies, SqlDependencies),
    "approvals": (MemoryApprovals, SqlApprovals),
    "runs": (MemoryRuns, SqlRuns),
    "conversations": (MemoryConversations, SqlConversations),
    "credentials": (MemoryCredentials, SqlCredentials),
    "identity": (MemoryIdentity, SqlIdentity),
    "resources": (MemoryResources, SqlResources),
    "taints": (MemoryTaints, SqlTaints),
    "roles": (MemoryRoles, SqlRoles),
    "quotas": (MemoryQuotas, SqlQuotas),
    "tool_vectors": (MemoryToolVectors, SqlToolVectors),
    "files": (MemoryFiles, SqlFiles),
    "evidence": (MemoryEvidence, SqlEvidence),
    "documents": (MemoryDocuments, SqlDocuments),
    "knowledge_index": (LazyKnowledgeIndex, LazyKnowledgeIndex),
    "audit": (MemoryAudit, SqlAudit),
    "auditor": (MemoryAudit, SqlAuditor),
    "upkeep": (MemoryUpkeep, SqlUpkeep),
}


async def test_each_part_is_kept_by_its_class(storage: Storage) -> None:
    place = int(isinstance(storage, SqlStorage))

    kept = {name: type(getattr(storage, name)) for name in PARTS}
    assert kept == {name: classes[place] for name, classes in PARTS.items()}
    assert issubclass(MemoryRuns, MemoryRunJournal)
    assert issubclass(SqlRuns, SqlRunJournal)


OPENED = {"index that is opened": (MemoryKnowledgeIndex, SqlKnowledgeIndex)}


@pytest.mark.parametrize("classes", (PARTS | OPENED).values(), ids=list(PARTS | OPENED))
def test_both_classes_have_the_same_methods(classes: tuple[type[Any], type[Any]]) -> None:
    memory, sql = ({name for name in dir(each) if not name.startswith("_")} for each in classes)

    # What else they have is nobody's but their own: `sweep` of memory, or another part.
    assert sql <= memory
