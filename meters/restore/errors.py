"""Why a store cannot be restored."""

from bonus.errors import UserError


class RestoreError(UserError):
    """A store that cannot be restored as it is asked for; what it would need, in words."""
