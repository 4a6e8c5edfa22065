/* Receipts: what was just done, for ten seconds, with what usually comes next. */

import { html, useLayoutEffect, useState } from "./preact.js";
import { say } from "./say.js";

const SHOWN_MS = 10000;
let made = 0;
let receipts = [];
let draw = () => {};

const set = (next) => {
  receipts = next;
  draw(receipts);
};

const remove = (number) => set(receipts.filter((each) => each.number !== number));

/* Show a receipt: its text, and links as elements. It stays while somebody points at it. */
export const give = (text, links = []) => set([...receipts.slice(-2), { number: (made += 1), text, links }]);

export const clear = () => set([]);

const Receipt = ({ number, text, links }) => {
  const [isHeld, setHeld] = useState(false);
  useLayoutEffect(() => {
    const timer = !isHeld && setTimeout(remove, SHOWN_MS, number);
    return () => clearTimeout(timer);
  }, [isHeld]);
  const hold = () => setHeld(true);
  const release = () => setHeld(false);
  return html`
    <div class="receipt" onPointerEnter=${hold} onPointerLeave=${release} onFocusIn=${hold} onFocusOut=${release}>
      <p>${text}</p>
      ${links}
      <button type="button" class="quiet" aria-label=${say("Close")} onClick=${() => remove(number)}>×</button>
    </div>`;
};

export const Receipts = () => {
  const [shown, setShown] = useState(receipts);
  draw = setShown;
  return html`
    <section class="receipts" role="status" aria-label=${say("Receipts")}>
      ${shown.map((each) => html`<${Receipt} key=${each.number} ...${each} />`)}
    </section>`;
};
