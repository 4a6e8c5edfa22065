"""The error of a restore that is not possible."""

from bonus.errors import UserError


class RestoreError(UserError):
    """A store that cannot be restored as requested; with what is needed for it."""
