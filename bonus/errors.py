"""Mistakes of whoever uses the software, told plainly and without a traceback."""


class UserError(Exception):
    """A command cannot do what its user asked, and the message says why.

    Attributes:
        exit_status: what the command ends with: 1 where the thing checked does not hold or the
            input was refused, 2 for wrong usage.
    """

    def __init__(self, message: str, *, exit_status: int = 1) -> None:
        super().__init__(message)
        self.exit_status = exit_status
