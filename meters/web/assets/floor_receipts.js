/* Receipts: what was just done, for ten seconds, with what usually comes next. */

import { html, useLayoutEffect, useState } from "./preact.js";
import { say } from "./say.js";

const SHOWN_MS = 10000;
/* A mouse or the focus holds a receipt for at most this time. A finger does not hold it: it leaves no
   pointer that could release the receipt. */
const HELD_MS = 30000;
let made = 0;
let receipt = null;
let draw = () => {};

const set = (next) => {
  receipt = next;
  draw(receipt);
};

/* Show a receipt in place of the one before: its text, and links as elements. `isLate` is true if
   somebody else acted first. */
export const give = (text, links = [], { isLate = false } = {}) => set({ number: (made += 1), text, links, isLate });

export const clear = () => set(null);

const Receipt = ({ number, text, links, isLate }) => {
  const [isHeld, setHeld] = useState(false);
  const remove = () => { if (receipt?.number === number) clear(); };
  useLayoutEffect(() => {
    const timer = setTimeout(remove, isHeld ? HELD_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isHeld]);
  useLayoutEffect(() => {
    const timer = setTimeout(remove, HELD_MS);
    return () => clearTimeout(timer);
  }, []);
  const hold = () => setHeld(true);
  const release = () => setHeld(false);
  return html`
    <div class="receipt" data-late=${isLate ? "" : null} onPointerEnter=${(event) => event.pointerType === "mouse" && hold()}
      onPointerLeave=${release} onFocusIn=${hold} onFocusOut=${release}>
      <p>${text}</p>
      ${links}
      <button type="button" class="quiet" aria-label=${say("Close")} onClick=${clear}>×</button>
    </div>`;
};

export const Receipts = () => {
  const [shown, setShown] = useState(receipt);
  draw = setShown;
  return html`
    <section class="receipts" role="status" aria-label=${say("Receipts")}>
      ${shown && html`<${Receipt} key=${shown.number} ...${shown} />`}
    </section>`;
};
