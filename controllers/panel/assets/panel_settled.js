/* The settlement, turn by turn in paying order: position, amount, source, and reasons. */

import { money } from "./money.js";
import { button } from "./panel_elements.js";
import { Card, Cards } from "./playing_cards.js";
import { html, useState } from "./preact.js";

const SIGNS = { envy: "Envy", magic_card: "Magic Card", lucky: "Lucky" };

/* One line; the subsections for it are shown when the dealer presses Why. */
const Line = ({ line, id }) => {
  const [open, setOpen] = useState(false);
  const cause = line.envy_of ? `for the hand of position ${line.envy_of}` : line.hand;
  return html`<li class="line" data-state=${line.state} data-kind=${line.kind}>
    <p class="who"><span class="sr">Position </span>${line.position}</p>
    <div class="what">
      <p class="item">${SIGNS[line.kind] && html`<b class="sign">${SIGNS[line.kind]}</b>`}${line.item}</p>
      <p class="cause">${[cause, line.percent && `${line.percent}% of the meter`].filter(Boolean).join(" · ")}</p>
    </div>
    <div class="pays">
      <p class="act">${line.act}</p>
      ${line.amount > 0 && html`<p class="amount">${money(line.amount)}</p>`}
      ${line.source && html`<p class="source">${line.source}</p>`}
    </div>
    ${button(`${id}-why`, "Why", () => setOpen(!open), {
      class: "small why", "aria-expanded": open, "aria-controls": id,
      "aria-label": `Why: position ${line.position} ${line.item}`,
    })}
    <div class="reasons" id=${id} hidden=${!open}>${line.why.map((text) => html`<p>${text}</p>`)}</div>
  </li>`;
};

export const DrawMade = ({ draw }) => {
  if (draw === null || (draw.magic_card === null && draw.lucky_position === null)) return null;
  const lucky = draw.lucky_position === "dealer" ? "dealer" : `position ${draw.lucky_position}`;
  return html`<div class="draw">
    ${draw.magic_card && html`<p>Magic Card <${Card} name=${draw.magic_card} /></p>`}
    ${draw.lucky_position !== null && html`<p>★ Lucky: ${lucky}</p>`}
  </div>`;
};

const isLost = ({ state, amount }) => state === "nothing" && amount === 0;

/* Lost wagers are hidden until the dealer asks for them, so all that is paid fits on the screen. */
export const Settlement = ({ settled }) => {
  const [showsLost, setShowsLost] = useState(false);
  const lost = settled.turns.flatMap(({ lines }) => lines.filter(isLost)).length;
  const turns = settled.turns
    .map((turn) => ({ ...turn, lines: turn.lines.filter((line) => showsLost || !isLost(line)) }))
    .filter(({ lines }) => lines.length);
  return html`<section class="settled" aria-labelledby="settled-title">
    <div class="over">
      <h2 id="settled-title">Settlement of round ${settled.round}</h2>
      ${lost > 0 && button("lost-lines", `${showsLost ? "Hide" : "Show"} lost wagers (${lost})`,
        () => setShowsLost(!showsLost), { class: "small", "aria-expanded": showsLost })}
      <div class="shared-cards">
        ${settled.dealer && html`<p>Dealer <${Cards} names=${settled.dealer} /></p>`}
        ${settled.community && html`<p>Community <${Cards} names=${settled.community} /></p>`}
        <${DrawMade} draw=${settled.draw} />
      </div>
    </div>
    ${turns.length ? html`<ol class="turns">${turns.map((turn) =>
      html`<li class="turn" key=${turn.position}>
        <h3>Position ${turn.position}${turn.cards && html`<${Cards} names=${turn.cards} />`}</h3>
        <ul>${turn.lines.map((line) => html`<${Line} key=${line.line} line=${line}
          id="line-${settled.round}-${line.line}" />`)}</ul>
      </li>`)}</ol>` : html`<p>No progressive wager is paid.</p>`}
  </section>`;
};

export const Held = ({ held, positions }) => html`<section class="held notice wait" role="status">
  <h2>HELD: the cards stay on the table</h2>
  <ul>${held.map((claim) => html`<li key=${claim.claim} data-claim=${claim.claim}
    data-validated=${claim.validated}>
    <b>${claim.position === null ? claim.item
      : `Position ${claim.position}: ${claim.item}, ${money(claim.amount)}`}</b>
    ${` ${claim.told}`} <span class="of">Claim ${claim.claim}, ${claim.rule}.</span>
  </li>`)}</ul>
  <p>Wait. The panel continues by itself when each payment is recorded.${
    positions.some((place) => place.lit.length)
    && " Lit wagers stay accepted. To take one back, touch its light."}</p>
</section>`;
