"""The table of the figures that a report's rows have for each meter and each table."""

from typing import Final

from tests.documents.json_tables import table

OF_METERS: Final = {
    "wagers_accepted": "wagers that were accepted, with their whole amount",
    "wagers_voided": "wagers of void rounds, and wagers taken back, also those of earlier days",
    "wins": "wins of the meter, at odds and with Envy Bonuses too",
    "hits": "of these, wins of a percentage of the meter",
    "rejected": "wins that were rejected",
    "reopened": "rejected wins that were reopened",
    "envy_owed": "Envy Bonuses that wait for their payment to be entered",
    "envy_taken_back": "Envy Bonuses that were found not to be due",
    "envy_reopened": "Envy Bonuses that were reopened with their win",
    "paid_at_table": "wins at odds and Envy Bonuses that were paid",
    "paid_by_hand": "hand pays whose payment was entered",
    "waiting_at_close": "at the close: wins that wait",
    "envy_pending_at_close": "at the close: Envy Bonuses of undecided wins",
    "envy_to_pay_at_close": "at the close: Envy Bonuses of decided wins",
}
OF_TABLES_AND_METERS: Final = {
    "table_wagers": "wagers that were accepted",
    "table_contributed": "what they added to meter, reserve and overflow",
    "table_wagers_voided": "wagers of void rounds, or taken back",
    "table_contributions_voided": "what these wagers had added",
    "table_wins": "wins",
    "table_rejected": "wins that were rejected",
    "table_reopened": "rejected wins that were reopened",
}
OF_TABLES: Final = {
    "table_rounds": "rounds with a progressive wager and a result",
    "table_rounds_voided": "rounds that were voided",
    "table_rounds_voided_after_cards": "of these, after cards were entered",
    "table_hands_entered_again": "hands or results that were entered differently before",
    "table_hands_declared_no_win": "hands that were declared to win nothing, without their cards",
    "table_wagers_corrected": (
        "wagers that were added or taken back after lock-out; those taken back are also in"
        " `wagers_voided`"
    ),
}


def report_figures() -> str:
    return table(
        ("figure", "of each", "what it counts"),
        (
            (f"`{figure}`", of, meaning)
            for of, figures in (
                ("meter", OF_METERS),
                ("table and meter", OF_TABLES_AND_METERS),
                ("table", OF_TABLES),
            )
            for figure, meaning in figures.items()
        ),
    )
