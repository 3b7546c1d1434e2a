"""Every table, in one place. `migrations/` makes them; a test holds the two equal.

Columns are what is looked up or compared; the rest of a value is JSON in `body`, so that a new
field of a value needs no migration.
"""

from sqlalchemy import (
    Boolean,
    Column,
    Index,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from pegboard.storage.columns import NUMBER
from pegboard.storage.columns import index_rows_where as _where
from pegboard.storage.columns import make_key as _key
from pegboard.storage.columns import make_number as _number
from pegboard.storage.columns import make_optional_seconds as _maybe
from pegboard.storage.columns import make_seconds as _seconds
from pegboard.storage.columns import make_text as _text
from pegboard.storage.knowledge_tables import METADATA  # with the tables that stand there

# A started write is a call with status 'unknown' until its record arrives, so that history is one
# table with one order that never changes under a reader.
CALLS = Table(
    "calls",
    METADATA,
    _number("id"),
    Column("call_id", Text, nullable=False, unique=True),
    _text("tool"),
    _text("source"),
    _text("status"),
    _text("principal"),
    _text("tenant"),
    _text("run_id"),
    _seconds("started_at"),
    _text("body"),
    Column("instead_of", Text, nullable=False, server_default=""),
)
_WITH_RUN = text("run_id <> ''")
_STANDS_IN = text("instead_of <> ''")
_UNKNOWN = text("status = 'unknown'")
_NOT_COMPLETED = text("status <> 'completed'")
_WITH_TENANT = text("tenant <> ''")
Index("calls_by_time", CALLS.c.started_at, CALLS.c.id)
Index("calls_by_tool", CALLS.c.tool, CALLS.c.started_at, CALLS.c.id)
Index("calls_by_source", CALLS.c.source, CALLS.c.started_at, CALLS.c.id)
Index("calls_by_principal", CALLS.c.principal, CALLS.c.started_at, CALLS.c.id)
Index("calls_by_status", CALLS.c.status, CALLS.c.started_at, CALLS.c.id, **_where(_NOT_COMPLETED))
Index("calls_by_tenant", CALLS.c.tenant, CALLS.c.started_at, CALLS.c.id, **_where(_WITH_TENANT))
Index("calls_by_run", CALLS.c.run_id, CALLS.c.started_at, CALLS.c.id, **_where(_WITH_RUN))
Index(
    "calls_by_instead_of", CALLS.c.instead_of, CALLS.c.started_at, CALLS.c.id, **_where(_STANDS_IN)
)
Index("calls_unknown", CALLS.c.started_at, CALLS.c.id, **_where(_UNKNOWN))

ERROR_DETAILS = Table(
    "error_details", METADATA, _key("error_id"), _text("body"), sqlite_with_rowid=False
)

RESULTS = Table(
    "results",
    METADATA,
    _key("handle"),
    _text("owner"),
    _text("media_type"),
    _text("name"),
    _seconds("created_at"),
    _seconds("expires_at"),
    Column("body", LargeBinary, nullable=False),
    Column("size", NUMBER, nullable=False, server_default="0"),
)
Index("results_by_expiry", RESULTS.c.expires_at)
Index("results_by_owner", RESULTS.c.owner, RESULTS.c.created_at, RESULTS.c.size)

OUTCOMES = Table(
    "outcomes",
    METADATA,
    _key("owner"),
    _key("key"),
    _text("tool"),
    _text("digest"),
    _seconds("created_at"),
    Column("result", Text),
    Column("holder", Text, nullable=False, server_default=""),
    _maybe("held_until"),
    sqlite_with_rowid=False,
)
Index("outcomes_by_age", OUTCOMES.c.created_at)

TOOL_VERSIONS = Table(
    "tool_versions",
    METADATA,
    _number("number"),
    _text("name"),
    _text("version"),
    _text("digest"),
    _text("definition"),
    _seconds("created_at"),
    _text("created_by"),
    _text("origin"),
    _text("status"),
    _maybe("deprecated_at"),
    _maybe("deprecated_until"),
    UniqueConstraint("name", "version", name="tool_versions_once"),
)
ACTIVE_TOOLS = Table(
    "active_tools", METADATA, _key("name"), _text("version"), sqlite_with_rowid=False
)
REVISIONS = Table(
    "revisions",
    METADATA,
    _key("name"),
    Column("number", NUMBER, nullable=False),
    sqlite_with_rowid=False,
)

PINS = Table(
    "pins",
    METADATA,
    _key("source"),
    _key("name"),
    _text("digest"),
    _text("definition"),
    _seconds("approved_at"),
    _text("approved_by"),
)
HELD_DEFINITIONS = Table(
    "held_definitions",
    METADATA,
    _key("source"),
    _key("name"),
    _text("digest"),
    _text("definition"),
    _seconds("held_at"),
    _text("diff"),
)

SEEN_TOOLS = Table(
    "seen_tools",
    METADATA,
    _key("id"),
    _text("name"),
    _text("digest"),
    _text("definition"),
    _seconds("seen_at"),
    sqlite_with_rowid=False,
)
Index("seen_tools_by_age", SEEN_TOOLS.c.seen_at)

SWITCHES = Table(
    "switches",
    METADATA,
    _key("kind"),
    _key("name"),
    _text("reason"),
    _seconds("thrown_at"),
    _text("thrown_by"),
)

DEPENDENCY_CHANGES = Table(
    "dependency_changes",
    METADATA,
    Column("version", NUMBER, primary_key=True, autoincrement=False),
    _text("body"),
)

APPROVALS = Table(
    "approvals",
    METADATA,
    _number("number"),
    Column("id", Text, nullable=False, unique=True),
    _text("state"),
    _text("principal"),
    _text("tenant"),
    _text("tool"),
    _text("run_id"),
    _text("digest"),
    _seconds("created_at"),
    _maybe("expires_at"),
    _text("body"),
)
Index("approvals_by_time", APPROVALS.c.created_at, APPROVALS.c.number)
Index("approvals_by_digest", APPROVALS.c.digest)
Index("approvals_by_expiry", APPROVALS.c.state, APPROVALS.c.expires_at)
_PAGE = APPROVALS.c.created_at, APPROVALS.c.number
Index("approvals_by_state", APPROVALS.c.state, *_PAGE)
Index("approvals_by_tool", APPROVALS.c.tool, *_PAGE)
Index("approvals_by_run", APPROVALS.c.run_id, *_PAGE)
Index("approvals_by_principal", APPROVALS.c.principal, *_PAGE)
Index("approvals_by_tenant", APPROVALS.c.tenant, *_PAGE, **_where(_WITH_TENANT))

PLANS = Table("plans", METADATA, _key("id"), _text("body"), _seconds("created_at"))
Index("plans_by_time", PLANS.c.created_at, PLANS.c.id)

RUNS = Table(
    "runs",
    METADATA,
    _number("number"),
    Column("id", Text, nullable=False, unique=True),
    _text("plan_id"),
    _text("state"),
    _text("principal"),
    _text("tenant"),
    _seconds("created_at"),
    _maybe("finished_at"),
    _maybe("wake_at"),
    _text("lease_owner"),
    _maybe("lease_until"),
    Column("last_event", NUMBER, nullable=False),
    _text("body"),
    Column("result", Text),
    Column("brief_body", Text),
    Column("brief_result", Text),
    Column("brief_state", Text),
)
_UNFINISHED = text("finished_at IS NULL")
_NOT_COMPLETED_RUN = text("state <> 'completed'")
Index("runs_by_time", RUNS.c.created_at, RUNS.c.number)
Index("runs_by_end", RUNS.c.finished_at)
Index("runs_by_plan", RUNS.c.plan_id)
Index("runs_by_principal", RUNS.c.principal, RUNS.c.created_at, RUNS.c.number)
Index("runs_by_state", RUNS.c.state, RUNS.c.created_at, RUNS.c.number, **_where(_NOT_COMPLETED_RUN))
Index("runs_by_tenant", RUNS.c.tenant, RUNS.c.created_at, RUNS.c.number, **_where(_WITH_TENANT))
Index("runs_unfinished", RUNS.c.number, **_where(_UNFINISHED))

RUN_STEPS = Table(
    "run_steps",
    METADATA,
    _key("run_id"),
    _key("path"),
    _seconds("started_at"),
    _maybe("finished_at"),
    _text("value"),
)
RUN_EVENTS = Table(
    "run_events",
    METADATA,
    _key("run_id"),
    Column("sequence", NUMBER, primary_key=True, autoincrement=False),
    _text("body"),
)
RUN_SIGNALS = Table(
    "run_signals",
    METADATA,
    _number("number"),
    _text("run_id"),
    _text("id"),
    _text("taken_by"),
    _text("body"),
    UniqueConstraint("run_id", "id", name="run_signals_once"),
)
Index("run_signals_in_order", RUN_SIGNALS.c.run_id, RUN_SIGNALS.c.number)

CONVERSATIONS = Table(
    "conversations",
    METADATA,
    _number("number"),
    Column("id", Text, nullable=False, unique=True),
    _text("principal"),
    _text("tenant"),
    _text("title"),
    _seconds("updated_at"),
    _text("body"),
)
Index("conversations_by_time", CONVERSATIONS.c.updated_at, CONVERSATIONS.c.number)
Index(
    "conversations_by_principal",
    CONVERSATIONS.c.principal,
    CONVERSATIONS.c.updated_at,
    CONVERSATIONS.c.number,
)
EXCHANGES = Table(
    "exchanges",
    METADATA,
    _number("number"),
    Column("id", Text, nullable=False, unique=True),
    _text("conversation"),
    _text("run_id"),
    _text("state"),
    _text("text"),
    _text("answer"),
    _text("body"),
)
Index("exchanges_in_order", EXCHANGES.c.conversation, EXCHANGES.c.number)
Index("exchanges_by_run", EXCHANGES.c.run_id)
Index("exchanges_working", EXCHANGES.c.number, **_where(text("state = 'working'")))

CLAIMED_NAMES = Table("claimed_names", METADATA, _key("name"), sqlite_with_rowid=False)
"""Handles and e-mail addresses; none is given again, so rows are never deleted."""

USERS = Table(
    "users",
    METADATA,
    _key("id"),
    Column("handle", Text, nullable=False, unique=True),
    _text("email"),
    _text("body"),
)
Index("users_by_email", USERS.c.email)

ORGANISATIONS = Table("organisations", METADATA, _key("handle"), _text("body"))

MEMBERSHIPS = Table("memberships", METADATA, _key("organisation"), _key("user_id"), _text("body"))
Index("memberships_by_user", MEMBERSHIPS.c.user_id)

API_KEYS = Table(
    "api_keys",
    METADATA,
    _number("number"),
    Column("id", Text, nullable=False, unique=True),
    Column("digest", Text, nullable=False, unique=True),
    _text("user_id"),
    _text("body"),
)
Index("api_keys_by_user", API_KEYS.c.user_id, API_KEYS.c.number)

USER_SESSIONS = Table(
    "user_sessions",
    METADATA,
    _key("digest"),
    _text("user_id"),
    _seconds("expires_at"),
    _text("body"),
)
Index("user_sessions_by_user", USER_SESSIONS.c.user_id)
Index("user_sessions_by_expiry", USER_SESSIONS.c.expires_at)

LINKS = Table(
    "links", METADATA, _key("digest"), _seconds("expires_at"), _maybe("used_at"), _text("body")
)
Index("links_by_expiry", LINKS.c.expires_at)

RESOURCES = Table(
    "resources",
    METADATA,
    _key("id"),
    _text("kind"),
    _text("name"),
    _text("owner"),
    _text("organisation"),
    _text("visibility"),
    _text("publish_status"),
    Column("revision", NUMBER, nullable=False),
    Column("version", NUMBER, nullable=False),
    _text("body"),
    UniqueConstraint("kind", "name"),
)
Index("resources_by_owner", RESOURCES.c.owner)
Index("resources_by_organisation", RESOURCES.c.organisation)
Index("resources_by_status", RESOURCES.c.publish_status)
Index("resources_by_version", RESOURCES.c.version)
SUBSCRIPTIONS = Table("subscriptions", METADATA, _key("resource"), _key("user_id"))
Index("subscriptions_by_user", SUBSCRIPTIONS.c.user_id)
RESOURCE_DEFINITIONS = Table(
    "resource_definitions",
    METADATA,
    _key("resource"),
    Column("version", NUMBER, nullable=False),
    _text("body"),
)
Index("resource_definitions_by_version", RESOURCE_DEFINITIONS.c.version)
RESOURCE_VERSION = Table(
    "resource_version",
    METADATA,
    Column("id", NUMBER, primary_key=True, autoincrement=False),
    Column("version", NUMBER, nullable=False),
)
"""One row, whose version grows with each change of the three tables above. Rows of `resources` and
`resource_definitions` have the version that wrote them."""
CREDENTIALS = Table(
    "credentials",
    METADATA,
    _number("number"),
    Column("id", Text, nullable=False, unique=True),
    _text("owner"),
    _text("source"),
    _text("name"),
    Column("shared", Boolean, nullable=False),
    Column("version", NUMBER, nullable=False),
    _maybe("refreshed_until"),
    _text("sealed"),
    _text("body"),
    UniqueConstraint("owner", "source", "name", name="credentials_by_name"),
)
Index("credentials_by_source", CREDENTIALS.c.source)
IDENTITY_REVISION = Table(
    "identity_revision",
    METADATA,
    Column("id", NUMBER, primary_key=True, autoincrement=False),
    Column("revision", NUMBER, nullable=False),
)
"""One row, so that each server sees whether rights have changed."""

LINKED_IDENTITIES = Table(
    "linked_identities", METADATA, _key("issuer"), _key("subject"), _text("user_id"), _text("body")
)

TEMPORARY_RECORDS = Table(
    "temporary_records",
    METADATA,
    _key("kind"),
    _key("id"),
    _seconds("expires_at"),
    _text("body"),
)
Index("temporary_records_by_expiry", TEMPORARY_RECORDS.c.expires_at)

SIGN_IN_ATTEMPTS = Table(
    "sign_in_attempts", METADATA, _number("number"), _text("name"), _seconds("expires_at")
)
Index("sign_in_attempts_by_name", SIGN_IN_ATTEMPTS.c.name, SIGN_IN_ATTEMPTS.c.expires_at)
Index("sign_in_attempts_by_expiry", SIGN_IN_ATTEMPTS.c.expires_at)

AUDIT = Table(
    "audit",
    METADATA,
    Column("sequence", NUMBER, primary_key=True, autoincrement=False),
    _seconds("at"),
    _text("kind"),
    _text("tenant"),
    _text("body"),
    _text("previous"),
    _text("hash"),
)
Index("audit_by_kind", AUDIT.c.kind, AUDIT.c.sequence)
Index("audit_by_tenant", AUDIT.c.tenant, AUDIT.c.sequence, **_where(_WITH_TENANT))
Index("audit_by_time", AUDIT.c.at)
AUDIT_HEAD = Table(
    "audit_head",
    METADATA,
    Column("id", NUMBER, primary_key=True, autoincrement=False),
    Column("sequence", NUMBER, nullable=False),
    _text("hash"),
)

TAINTS = Table("taints", METADATA, _key("subject"), _seconds("at"), _text("body"))
Index("taints_by_time", TAINTS.c.at)

ORGANISATION_ROLES = Table(
    "organisation_roles", METADATA, _key("organisation"), _key("name"), _text("body")
)

QUOTAS = Table("quotas", METADATA, _key("id"), _seconds("changed_at"), _text("body"))
QUOTA_USAGE = Table("quota_usage", METADATA, _key("id"), _seconds("used"), _seconds("ends_at"))
Index("quota_usage_by_end", QUOTA_USAGE.c.ends_at)
TOOL_VECTORS = Table(
    "tool_vectors",
    METADATA,
    _number("number"),
    _text("embedder"),
    _text("digest"),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("embedder", "digest"),
    sqlite_autoincrement=True,
)
FILES = Table(
    "files",
    METADATA,
    _number("number"),
    Column("id", Text, nullable=False, unique=True),
    _text("owner"),
    _text("organisation"),
    _text("state"),
    _text("purpose"),
    _text("digest"),
    Column("size", NUMBER, nullable=False),
    Column("revision", NUMBER, nullable=False),
    _seconds("created_at"),
    _seconds("updated_at"),
    _text("body"),
)
Index("files_by_owner", FILES.c.owner, FILES.c.created_at, FILES.c.number)
Index(
    "files_by_organisation",
    FILES.c.organisation,
    FILES.c.created_at,
    FILES.c.number,
    **_where(text("organisation <> ''")),
)
Index("files_idle", FILES.c.updated_at, FILES.c.number, **_where(text("state <> 'ready'")))
