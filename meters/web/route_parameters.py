"""Parameters of routes, with descriptions and examples for the API's document."""

from typing import Annotated

from litestar.openapi.spec import Example
from litestar.params import PathParameter, QueryParameter

from meters.acts.claim_types import ENTRIES_MAX, PAGE_MAX


def _in_path(description: str, example: object) -> PathParameter:
    return PathParameter(description=description, examples=[Example(value=example)])


def _in_query(description: str, example: object) -> QueryParameter:
    return QueryParameter(description=description, examples=[Example(value=example)])


_LINK = "The id of a link in the floor file."
_DAY = "A gaming day. Without it, the open gaming day."
_TIME = "2026-11-20T02:14:07Z"

AskId = Annotated[str, _in_path("The id of a correction request.", "tcp-main.TCP-03-497-2")]
ClaimId = Annotated[str, _in_path("The id of a win's claim.", "tcp-main.TCP-03-497-1")]
Days = Annotated[str, _in_path("A gaming day, or a month such as `2026-11`.", "2026-11-20")]
EntryNumber = Annotated[int, _in_path("The number of one of the round's ledger entries.", 497)]
LinkId = Annotated[str, _in_path(_LINK, "tcp-main")]
MeterId = Annotated[str, _in_path("The id of a meter of the link.", "progressive")]
ProposalId = Annotated[str, _in_path("The id of a proposed change.", "tcp-main-12")]
ReportName = Annotated[str, _in_path("`day`, `month`, `jackpots` or `table`.", "day")]
UserName = Annotated[str, _in_path("The name of a user.", "Flo")]

AskedClaim = Annotated[
    str | None,
    QueryParameter(
        max_length=200,
        description="The claim of a win, to list only the round of this win.",
        examples=[Example(value="tcp-main.TCP-03-497-1")],
    ),
]
AskedDay = Annotated[str | None, _in_query(_DAY, "2026-11-20")]
AskedLink = Annotated[str | None, _in_query(f"{_LINK} Without it, all links.", "tcp-main")]
AskedMeter = Annotated[str | None, _in_query("The id of a meter.", "progressive")]
AskedTable = Annotated[str | None, _in_query("The id of a table.", "TCP-03")]
AskedSince = Annotated[str | None, _in_query("Only from this time on, in UTC.", _TIME)]
AskedUntil = Annotated[str | None, _in_query("Only before this time, in UTC.", _TIME)]
AskedWords = Annotated[
    str | None,
    _in_query(
        "Words that the win must have, such as a patron, a hand, a slip, or who decided.", "Flo"
    ),
]
MeterAwards = Annotated[
    bool,
    _in_query("If true, only wins of a percentage of a meter, and no wins at odds.", example=True),
]
NextWins = Annotated[str | None, _in_query("The value `next` of the previous page.", "497")]
EntriesBefore = Annotated[
    int | None,
    QueryParameter(
        ge=1,
        le=ENTRIES_MAX,
        description="Only entries with a lower number. For the next page, give the number of the"
        " last entry.",
        examples=[Example(value=497)],
    ),
]
PageSize = Annotated[
    int, QueryParameter(ge=1, le=PAGE_MAX, description="The most rows of the answer.")
]
