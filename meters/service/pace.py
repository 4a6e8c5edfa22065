from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a service checks and audits.

    Attributes:
        check_every_s: the time between two checks of a link, and between two heartbeats.
        answered_within_s: if Redis does not answer for this time, it has failed. Displays report
            the failure later.
        audit_every_s: the time between two audits of a ledger, and of the operators' log.
        audited_within_s: if no audit has ended for this time, the link is inoperable.
        audit_again_s: the time between a failed audit and the next attempt.
        audited_again: the number of entries that each audit reads again although an earlier audit
            found them correct. So every audit causes the same load.
        checkpoint_every: the number of new entries after which an audit writes its checkpoint
            again. A start replays about this number of entries, and the entries of the last minute.
        mark_every_s: the time between two writes of the mark of the operators' log.
    """

    check_every_s: float = 1.0
    answered_within_s: float = 2.0
    audit_every_s: float = 60.0
    audited_within_s: float = 180.0
    audit_again_s: float = 1.0
    audited_again: int = 1_000
    checkpoint_every: int = 5_000
    mark_every_s: float = 1.0


USUAL = Pace()
