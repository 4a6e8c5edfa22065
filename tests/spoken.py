"""Pages of staff with each sentence in brackets, so that words which nobody says stand out."""

import json
import re
from typing import Final

from playwright.async_api import Page, Route

_SPANISH: Final = "localStorage.setItem('pitlink.language', 'es')"
# Text that a person sees or hears, without what is in brackets; sentences are in sentences.
_UNSAID: Final = """() => {
  const all = (what, textOf) => [...document.querySelectorAll(what)]
    .filter((element) => element.checkVisibility({ visibilityProperty: true })).map(textOf);
  const names = ["aria-label", "placeholder", "title", "alt", "label", "data-text"]
    .flatMap((name) => all(`[${name}]`, (element) => element.getAttribute(name)));
  const drawn = all("svg text, svg title", (element) => element.textContent);
  return [document.title, document.body.innerText, ...names, ...drawn].map((text) => {
    for (let before = ""; before !== text;) {
      [before, text] = [text, text.replace(/⟦[^⟦⟧]*⟧/g, " ")];
    }
    return text;
  });
}"""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
LANGUAGES: Final = "English Español 简体中文 Tiếng Việt"


async def bracket(page: Page) -> None:
    """Have the next pages speak a language whose sentences are the English ones in brackets."""

    async def answer(route: Route) -> None:
        found = json.loads(await (await route.fetch()).body())
        said = {part: {text: f"⟦{text}⟧" for text in texts} for part, texts in found.items()}
        await route.fulfill(json=said)

    await page.route("**/staff_es.json", answer)
    await page.add_init_script(_SPANISH)


async def unsaid(page: Page, *names: str) -> list[str]:
    """Return the words on a page that no sentence says, without those of names."""
    known = set(_WORD.findall(" ".join((LANGUAGES, *names))))
    texts = await page.evaluate(_UNSAID)
    return sorted({word for text in texts for word in _WORD.findall(text)} - known)
