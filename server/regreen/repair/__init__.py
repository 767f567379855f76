"""The built-in repair search: quick search for small mistakes, no model."""
