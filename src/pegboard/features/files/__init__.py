"""Files of people: uploaded in parts, listed, read and deleted."""

from pegboard.features.files.service import Files
from pegboard.features.files.uploads import NewUpload, Uploads

__all__ = ["Files", "NewUpload", "Uploads"]
