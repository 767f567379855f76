"""Regreen turns a red test green again, on the developer's own machine."""

__version__ = "0.1.0"
