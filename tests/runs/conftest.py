"""Scripted servers for the runs."""

from scripted.fixtures import scripted

__all__ = ["scripted"]
