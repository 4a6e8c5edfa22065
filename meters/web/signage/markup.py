"""The markup of a signage page; what is filled in has been escaped."""

from typing import Final

from meters.floor.demonstration import MARK

PAGE: Final = """\
<!doctype html>
<html lang="en" data-version="{version}" data-stream="{stream}" data-celebrate="{celebrate}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="theme-color" content="{ground}">
<title>{title} · {facility}</title>
<link rel="stylesheet" href="/assets/{version}/look.css">
<link rel="stylesheet" href="/assets/{version}/signage.css">
<link rel="stylesheet" href="/assets/{version}/signage-moment.css">
<link rel="icon" href="/assets/{version}/dollar.svg" type="image/svg+xml">
<script src="/assets/{version}/signage.js" type="module"></script>
</head>
<body data-pending="{pending}" data-validated="{validated}" \
data-unavailable="{unavailable}" data-closed="{closed}">
{demonstration}<header class="mast">
<p class="facility">{house}</p>
<h1>{title}</h1>
<p class="pulse" role="status">\
As of <time datetime="{instant}">{time}</time></p>
</header>
<main class="floor" data-links="{links}" data-all="{all}" data-rotate="{rotate}" \
data-seconds="{seconds}">
{sections}
</main>
{foot}<button type="button" class="pause" hidden>Hold this view</button>
<div class="moment" role="status" hidden>
<div class="suits" aria-hidden="true"><i></i><i></i><i></i><i></i><i></i><i></i><i></i><i></i></div>
<div class="moment-card">
<p class="moment-kind">{jackpot}</p>
<p class="moment-hand"></p>
<div class="window"><p class="amount" role="img" aria-label=""></p></div>
<p class="moment-table"></p>
<p class="moment-meter"></p>
</div>
</div>
</body>
</html>
"""

DEMONSTRATION: Final = f'<p class="demonstration">{MARK}</p>\n'
LOGO: Final = '<img class="logo" src="/signage/logo/{version}" alt="{facility}">'
FOOT: Final = '<footer class="foot">{foot}</footer>\n'

SECTION: Final = """\
<section class="link" data-link="{link}" data-state="{state}" data-age="{age}" \
data-count="{count}" data-digits="{digits}" aria-label="{name}">
<h2>{name}</h2>
<ul class="meters">
{meters}
</ul>
</section>"""

METER: Final = """\
<li class="meter" data-meter="{meter}" data-state="{state}" data-known="{known}" {row}>
<div class="face">
<div class="name"><h3>{title}</h3><p class="wager">{wager}</p><p class="shut">{closed}</p>\
<p class="wins">{wins}</p></div>
<div class="window">\
<p class="amount" role="img" aria-label="{label}">{glyphs}</p>\
<p class="unavailable" aria-hidden="true">{unavailable}</p></div>
{note}
</div>
</li>"""

NOTE: Final = (
    '<div class="note" role="status" data-kind="{}">'
    '<span class="kind">{}</span><span class="what">{}</span></div>'
)
