"""The error of a restore that is not possible."""

from bonus.errors import UserError


class RestoreError(UserError):
    """Report that a restore is not possible as requested. The text says what is needed for it."""
