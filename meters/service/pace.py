from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a service checks and audits, and how much of it at a time.

    Attributes:
        check_every_s: between two checks of a link, and between two heartbeats.
        answered_within_s: the time without an answer after which Redis counts as failed. Displays
            report a failure after a longer time.
        audit_every_s: between two audits of a ledger, and of the operators' log.
        audit_again_s: the time after which an audit that Redis interrupted is tried again.
        audited_again: the number of entries that each audit reads again although an earlier audit
            found them correct. It is fixed, so every audit causes the same load.
        checkpoint_every: the number of new entries after which an audit writes its checkpoint
            again. A start replays about so many entries, and those of the last minute.
        behind_max: the number of entries from which an audit waits no longer for the tables'
            events. After a failure, a link does not operate until these entries are replayed, which
            takes about ten seconds.
        slice_s: the time for which an audit runs before other tasks do, if it is `behind_max`
            entries behind.
        slice_max_s: the same, at most. An audit that is further behind runs longer, so it does not
            fall back further and further, even if the tables send more events than the worker can
            apply and audit.
        mark_every_s: the time after which the mark of the operators' log, with the number of its
            last entry, is written again.
    """

    check_every_s: float = 1.0
    answered_within_s: float = 2.0
    audit_every_s: float = 60.0
    audit_again_s: float = 1.0
    audited_again: int = 1_000
    checkpoint_every: int = 5_000
    behind_max: int = 300_000
    slice_s: float = 0.005
    slice_max_s: float = 0.02
    mark_every_s: float = 1.0


USUAL = Pace()
