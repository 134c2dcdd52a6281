"""Findings that the user accepted: by a comment in the template, or in a baseline."""
