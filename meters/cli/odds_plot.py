"""The house edge against the meter as a plot."""

from collections.abc import Sequence
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bonus.display import short_money
from bonus.law.games import Games
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.odds_words import GameNames

_ACROSS: Final = 2
_PANEL_INCHES: Final = (6.4, 4.0)
_DOTS_AN_INCH: Final = 120
_BEYOND: Final = Fraction(13, 10)
_ALONE: Final = "#1f4e79"
_OTHERS: Final = "#c0561f"
_LASTING: Final = "#4c7a34"


def plot_edges(entries: Sequence[OddsEntry], path: Path, games: Games) -> None:
    """Draw the house edge against the meter, with one panel for each wager that has a meter.

    At least one wager must have a meter. If the file cannot be written completely, `OSError` is
    raised, and an earlier file stays as it is.
    """
    metered = [entry for entry in entries if entry.meter_return]
    across = min(_ACROSS, len(metered))
    down = -(-len(metered) // across)
    wide, high = _PANEL_INCHES
    figure = Figure(figsize=(wide * across, high * down), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).flatten()
    for panel, entry in zip(panels, metered, strict=False):
        _draw(panel, entry)
        panel.set_title(_title(entry, games), fontsize=10)
    for panel in panels[len(metered) :]:
        panel.set_visible(False)
    figure.suptitle("House edge against the meter")
    ending = path.suffix[1:]
    drawn = BytesIO()
    figure.savefig(drawn, dpi=_DOTS_AN_INCH, format=ending)
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(drawn.getvalue())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _draw(panel: Axes, entry: OddsEntry) -> None:
    wager = next(iter(entry.break_even_meter))
    wager_cents = int(wager)
    alone = entry.break_even_meter[wager]
    seed = entry.seed_meter[wager]
    end = max(int(alone * _BEYOND), 2 * seed)
    at_empty, falls = entry.house_edge_at_empty_meter, entry.meter_return
    panel.axhline(0, color="black", linewidth=0.8)
    panel.axvline(seed / 100, color="gray", linewidth=0.8, linestyle=":")
    panel.annotate(
        f"seed {short_money(seed)}",
        (seed / 100, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(4, 0),
        textcoords="offset points",
        fontsize=8,
        color="gray",
    )
    _line(panel, _edges(at_empty, falls, wager_cents, end), end, _ALONE, _alone(entry))
    _mark(panel, alone, _ALONE, above=True)
    if entry.break_even_meter_with_envy:
        others = len(entry.break_even_meter_with_envy)
        brings = others * entry.fixed_envy(wager)
        also_falls = others * entry.envy_meter_return.get(wager, Fraction(0))
        edges = _edges(at_empty - brings, falls + also_falls, wager_cents, end)
        players = f"{others} other player{'' if others == 1 else 's'}"
        _line(panel, edges, end, _OTHERS, f"with Envy Bonuses, {players}", style="--")
        _mark(panel, entry.break_even_meter_with_envy[-1][wager], _OTHERS, above=False)
    if entry.long_run:
        lasting = float(entry.long_run.house_edge * 100)
        _line(panel, (lasting, lasting), end, _LASTING, "in the long run", style="-.")
    if entry.when_shared:
        shared = entry.when_shared[-1]
        edges = _edges(at_empty, shared.meter_return, wager_cents, end)
        _line(panel, edges, end, _OTHERS, f"shared by {shared.players} players", style="--")
    panel.set_xlabel(f"Amount of the meter, in dollars ({short_money(wager_cents)} wager)")
    panel.set_ylabel("House edge, in % of the wager")
    panel.xaxis.set_major_formatter("{x:,.0f}")
    panel.set_xlim(0, end / 100)
    panel.grid(visible=True, alpha=0.25)
    panel.legend(fontsize=8, loc="upper right")


def _edges(
    at_empty: Fraction, falls: Fraction, wager_cents: int, end_cents: int
) -> tuple[float, float]:
    """Return the house edge in percent at an empty meter, and at the end of the meter's axis."""
    last = at_empty - falls * Fraction(end_cents, wager_cents)
    return float(at_empty * 100), float(last * 100)


def _line(
    panel: Axes,
    edges: tuple[float, float],
    end_cents: int,
    color: str,
    label: str,
    *,
    style: str = "-",
) -> None:
    panel.plot((0, end_cents / 100), edges, color=color, linestyle=style, label=label)


def _mark(panel: Axes, meter_cents: int, color: str, *, above: bool) -> None:
    panel.plot([meter_cents / 100], [0], "o", color=color)
    panel.annotate(
        f"{short_money(meter_cents)}",
        (meter_cents / 100, 0),
        color=color,
        fontsize=8,
        xytext=(6, 7) if above else (-6, -13),
        textcoords="offset points",
        ha="left" if above else "right",
    )


def _alone(entry: OddsEntry) -> str:
    if entry.when_shared:
        return "for one player"
    return "without Envy Bonuses" if entry.envy_return else "house edge"


def _title(entry: OddsEntry, games: Games) -> str:
    names = GameNames.of(games, entry.game)
    title = (
        f"{games[entry.game].title}: {names.wager(entry.wager, entry.reading, entry.smaller_wager)}"
    )
    return f"{title}, paytable {entry.paytable}" if entry.paytable else title
