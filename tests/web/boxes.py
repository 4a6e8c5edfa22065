"""Boxes of the texts and numerals on a signage page, measured in every view of its rotation."""

from typing import Final

MEASURE: Final = """
async ({ states, far, least }) => {
  const url = document.querySelector('script[src*="signage.js"]').src;
  const { Rotation } = await import(url.replace("signage.js", "signage_rotation.js"));
  const found = [];
  const { innerWidth: width, innerHeight: height } = window;
  const short = Math.min(width, height);
  let celebrating = false;
  const seen = (element) => element.checkVisibility({ visibilityProperty: true })
    && !element.closest(".pause, [hidden]")
    && getComputedStyle(element).clipPath === "none"
    && (!celebrating || element.closest(".celebration, .demonstration"));
  const within = (inner, outer, by = 1) => inner.left >= outer.left - by
    && inner.top >= outer.top - by && inner.right <= outer.right + by
    && inner.bottom <= outer.bottom + by;
  /* The boxes of a text's lines, each as high as the size of its font. */
  const lines = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const size = parseFloat(getComputedStyle(node.parentElement).fontSize);
    return [...range.getClientRects()].filter((box) => box.width > 0).map((box) => {
      const middle = (box.top + box.bottom) / 2;
      const { left, right } = box;
      return { left, right, top: middle - size / 2, bottom: middle + size / 2 };
    });
  };
  const look = (where) => {
    const say = (what) => found.push(`${where}: ${what}`);
    const boxes = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      const owner = node.parentElement;
      if (!node.data.trim() || !seen(owner)) continue;
      for (const box of lines(node)) boxes.push([owner, node.data.trim(), box]);
      const block = owner.closest("h1, h2, .facility, .connection, .note, .wins, .foot, table, "
        + ".celebration-card > *");
      if (block && block.scrollWidth > block.clientWidth + 1) say(`"${node.data}" is too wide`);
      const letter = parseFloat(getComputedStyle(owner).fontSize) * 0.7;
      if (owner.matches(far) && letter < 0.032 * short) {
        say(`"${node.data}" has letters ${letter} px high`);
      }
    }
    for (const amount of document.querySelectorAll(".amount")) {
      if (!seen(amount) || amount.firstChild === null) continue;
      const row = amount.getBoundingClientRect();
      boxes.push([amount, amount.getAttribute("aria-label"), row]);
      const room = amount.parentElement.getBoundingClientRect();
      let right = row.left;
      for (const sign of amount.children) {
        const box = sign.getBoundingClientRect();
        if (!within(box, row)) say(`a digit of ${amount.ariaLabel} is outside its row`);
        if (!within(box, room)) say(`a digit of ${amount.ariaLabel} is outside its window`);
        if (box.left < right - 1) say(`two digits of ${amount.ariaLabel} overlap`);
        right = box.right;
      }
      if (row.height * 0.84 < (celebrating ? 0.05 : least) * short) {
        say(`${amount.ariaLabel} is ${row.height} px high`);
      }
    }
    for (const [owner, text, box] of boxes) {
      if (!within(box, { left: 0, top: 0, right: width, bottom: height })) {
        say(`"${text}" is outside the screen`);
      }
      const face = owner.closest(".face, .mast, .foot, .celebration-card, .note");
      if (face && !within(box, face.getBoundingClientRect())) say(`"${text}" leaves its place`);
    }
    boxes.forEach(([owner, text, one], number) => {
      for (const [other, words, two] of boxes.slice(number + 1)) {
        const apart = one.right <= two.left + 1 || two.right <= one.left + 1
          || one.bottom <= two.top + 1 || two.bottom <= one.top + 1;
        if (owner !== other && !apart) say(`"${text}" and "${words}" overlap`);
      }
    });
    const page = document.documentElement;
    if (page.scrollHeight > height || page.scrollWidth > width) say("the page scrolls");
  };
  const all = (selector) => [...document.querySelectorAll(selector)];
  /* The meters are divided while all are in play. What happens later must not move them. */
  let views = null;
  let factor = 1;
  for (const [state, html] of Object.entries(states)) {
    document.querySelector("main").outerHTML = html;
    const floor = document.querySelector(".floor");
    if (views === null) {
      const rotation = new Rotation(floor, document.createElement("button"));
      rotation.arrange();
      factor = rotation.factor;
      views = rotation.views.map((view) => view.map((meter) => all(".meter").indexOf(meter)));
    }
    floor.dataset.scale = factor;
    celebrating = !document.querySelector(".celebration").hidden;
    views.forEach((view, at) => {
      const meters = all(".meter");
      Rotation.prototype.reveal.call(
        { floor, sections: all(".link") }, view.map((index) => meters[index]));
      look(`${state} at ${width}x${height}, view ${at + 1} of ${views.length}`);
    });
  }
  return [...new Set(found)];
}
"""
"""Script that returns what is wrong with the boxes of a page at its present size.

The script draws each of `states`, the recorded contents of the page, and looks at each view of the
rotation. Texts and amounts must not overlap each other, leave their containers or leave the screen.
The digits of an amount must stay in its row, one after another. Elements that match `far` must have
letters of the height that the style sheet derives, 3.2% of the screen's shorter side. Numerals must
be at least `least` of the shorter side high.
"""
