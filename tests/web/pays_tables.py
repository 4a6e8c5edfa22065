"""Reads the paytables from the HTML of a page for players."""

from html.parser import HTMLParser


class Tables(HTMLParser):
    """Parser of the rows of each meter's table; a bar separates the cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.of: dict[str, list[str]] = {}
        self._rows: list[str] = []
        self._in_body = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        meter = dict(attrs).get("data-meter")
        if meter is not None:
            self._rows = self.of.setdefault(meter, [])
        elif tag == "tr":
            self._rows.append("")
        elif tag in {"td", "th"} and self._rows and self._rows[-1]:
            self._rows[-1] += " |"
        elif tag == "thead":
            self._in_body = False
        elif tag == "tbody":
            self._rows.clear()
            self._in_body = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "tbody":
            self._in_body = False

    def handle_data(self, data: str) -> None:
        if self._in_body and self._rows and data.strip():
            self._rows[-1] += f" {data.strip()}" if self._rows[-1] else data.strip()
