from bonus.errors import UserError


class RestoreError(UserError):
    """A restore that is not possible as requested. The text has the reason, or what is missing."""
