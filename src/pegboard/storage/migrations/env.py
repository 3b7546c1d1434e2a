"""What Alembic runs: the migrations, on the connection and inside the transaction it is given."""

from alembic import context

from pegboard.storage.migrate import TABLE
from pegboard.storage.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=TABLE,
)
context.run_migrations()
