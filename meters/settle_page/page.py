from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from bonus.settling.rounds import RoundError
from bonus.settling.settle import SettlementText, settle_line
from meters.floor.facility import DEMONSTRATION_MARK, Facility
from meters.floor.floor_file import Link, Table
from meters.http.templates import load_template
from meters.settle_page.table_forms import floor_forms
from meters.wire.messages import has_name_twice

PACKAGE: Final = "meters.settle_page"

_TEMPLATE: Final = load_template(PACKAGE, "page.html")


class RoundProblem(msgspec.Struct, frozen=True):
    """An error of a round: `code` for programs, `message` for people, and the wrong `field`."""

    code: str
    message: str
    field: str | None


def problems_of(error: RoundError) -> tuple[RoundProblem, ...]:
    """Return every known error of a round, the most important one first."""
    return tuple(RoundProblem(each.code, each.message, each.field) for each in error.all)


@dataclass(frozen=True, slots=True)
class SettlePage:
    """The page "Settle a round" of one server: the service, or the panel of a table.

    `version` is that of the server's static files, and `home` the path of its main page. If
    `signs_in`, a user must sign in before the server settles a round.
    """

    facility: Facility
    version: str
    home: str
    home_name: str
    signs_in: bool

    def render(
        self, tables: Sequence[tuple[Link, Table]], balances: Mapping[tuple[str, str], int]
    ) -> str:
        """Return the HTML of the page, with a form for each of the tables.

        The meters of the links must have their present wagers. `balances` are in cents, by link id
        and meter id.
        """
        forms = msgspec.json.encode(floor_forms(tables, balances)).decode()
        return _TEMPLATE.render(page=self, forms=forms, mark=DEMONSTRATION_MARK)


def settle_body(body: bytes) -> SettlementText:
    """Settle the round in the body of an HTTP request, in the format of `pitlink settle`.

    Raises:
        RoundError: the round cannot be read, or its wagers or cards are not possible.
    """
    settled = settle_line(body)
    if has_name_twice(body):
        raise RoundError("malformed", "the round names a field twice")
    return settled
