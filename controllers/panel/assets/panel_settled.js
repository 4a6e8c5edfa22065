/* The settlement, turn by turn in paying order: position, amount, source, and reasons. */

import { money } from "./money.js";
import { button } from "./panel_elements.js";
import { told } from "./panel_words.js";
import { Card, Cards, dealerWords } from "./playing_cards.js";
import { html, useState } from "./preact.js";
import { say, sayHand } from "./say.js";

const SIGNS = { envy: say("Envy"), magic_card: say("Magic Card"), lucky: say("Lucky") };

/* One line; the subsections for it are shown when the dealer presses Why. */
const Line = ({ line, id }) => {
  const [open, setOpen] = useState(false);
  const { position } = line;
  const cause = line.envy_of ? say("for the hand of position {position}", { position: line.envy_of }) : sayHand(line.hand);
  return html`<li class="line" data-state=${line.state} data-kind=${line.kind}>
    <p class="who"><span class="sr">${say("Position#alone")} </span>${position}</p>
    <div class="what">
      <p class="item">${SIGNS[line.kind] && html`<b class="sign">${SIGNS[line.kind]}</b>`}${told(line.item)}</p>
      <p class="cause">${[cause, line.percent && say("{percent}% of the meter", { percent: line.percent })].filter(Boolean).join(" · ")}</p>
    </div>
    <div class="pays">
      <p class="act">${told(line.act)}</p>
      ${line.amount > 0 && html`<p class="amount">${money(line.amount)}</p>`}
      ${line.source && html`<p class="source">${told(line.source)}</p>`}
    </div>
    ${button(`${id}-why`, say("Why"), () => setOpen(!open), {
      class: "small why", "aria-expanded": open, "aria-controls": id,
      "aria-label": say("Why: position {position} {item}", { position, item: told(line.item) }),
    })}
    <div class="reasons" id=${id} hidden=${!open}>${line.why.map((why) => html`<p>${told(why)}</p>`)}</div>
  </li>`;
};

export const DrawMade = ({ draw }) => {
  if (draw === null || (draw.magic_card === null && draw.lucky_position === null)) return null;
  const lucky = draw.lucky_position === "dealer" ? say("★ Lucky: dealer")
    : say("★ Lucky: position {position}", { position: draw.lucky_position });
  return html`<div class="draw">
    ${draw.magic_card && html`<p>${say("Magic Card")} <${Card} name=${draw.magic_card} /></p>`}
    ${draw.lucky_position !== null && html`<p>${lucky}</p>`}
  </div>`;
};

const isLost = ({ state, amount }) => state === "nothing" && amount === 0;

/* Losing wagers are hidden until the dealer asks for them: all payouts must fit on the screen. `isLast`
   says that the next round has begun: devices can already send wagers for it. */
export const Settlement = ({ settled, isLast }) => {
  const [showsLost, setShowsLost] = useState(false);
  const lost = settled.turns.flatMap(({ lines }) => lines.filter(isLost)).length;
  const turns = settled.turns
    .map((turn) => ({ ...turn, lines: turn.lines.filter((line) => showsLost || !isLost(line)) }))
    .filter(({ lines }) => lines.length);
  return html`<section class="settled" aria-labelledby="settled-title">
    <div class="over">
      <h2 id="settled-title">${isLast ? say("Last round: settlement of round {round}", settled) : say("Settlement of round {round}", settled)}</h2>
      ${lost > 0 && button("lost-lines",
        showsLost ? say("Hide losing wagers ({count})", { count: lost }) : say("Show losing wagers ({count})", { count: lost }),
        () => setShowsLost(!showsLost), { class: "small", "aria-expanded": showsLost })}
      <div class="shared-cards">
        ${settled.dealer?.length > 0 && html`<p>${dealerWords(settled.dealer)} <${Cards} names=${settled.dealer} /></p>`}
        ${settled.community && html`<p>${say("Community")} <${Cards} names=${settled.community} /></p>`}
        <${DrawMade} draw=${settled.draw} />
      </div>
    </div>
    ${turns.length ? html`<ol class="turns">${turns.map((turn) =>
      html`<li class="turn" key=${turn.lines[0].line}>
        <h3>${say("Position {position}", { position: turn.position })}${turn.cards && html`<${Cards} names=${turn.cards} />`}</h3>
        <ul>${turn.lines.map((line) => html`<${Line} key=${line.line} line=${line}
          id="line-${settled.round}-${line.line}" />`)}</ul>
      </li>`)}</ol>` : html`<p>${say("No progressive wager is paid.")}</p>`}
  </section>`;
};

export const Held = ({ held, positions, results }) => html`<section class="held notice wait" role="status">
  <h2>${results.length ? say("HELD: leave the table as it is") : say("HELD: the cards stay on the table")}</h2>
  <ul>${held.map((claim) => html`<li key=${claim.claim} data-claim=${claim.claim}
    data-validated=${claim.validated}>
    <b>${claim.position === null ? told(claim.item) : say("Position {position}: {item}, {amount}",
      { position: claim.position, item: told(claim.item), amount: money(claim.amount) })}</b>
    ${` ${told(claim.told)}`} <span class="of">${say("Claim {claim}, {rule}.", claim)}</span>
  </li>`)}</ul>
  <p>${say("Wait. The panel continues by itself when each payment is recorded.")}${
    positions.some((place) => place.lit.length)
    && ` ${say("Lit wagers stay accepted. To take one back, touch its light.")}`}</p>
</section>`;
