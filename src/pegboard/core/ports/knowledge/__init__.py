"""Ports of knowledge bases: documents, their conversion, their index, and evidence."""
