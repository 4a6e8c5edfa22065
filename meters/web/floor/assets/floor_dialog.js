/* Dialogs. A dialog has a question, its subject, and one button that carries out the act. */

import { make } from "./elements.js";
import * as api from "./floor_api.js";

const SETTLE_MS = 400;
let made = 0;

/* Return the focus to an element, or to the element that has replaced it. */
const refocus = (element) => {
  const key = element?.dataset?.focus;
  const again = key ? document.querySelector(`[data-focus="${CSS.escape(key)}"]`) : null;
  const heading = document.querySelector("main h1");
  const target = element?.isConnected && element !== document.body ? element : again ?? heading;
  target?.focus();
};

/* Replace the rows of a list, and keep the focus. */
export const redraw = (list, rows) => {
  const had = document.activeElement;
  list.replaceChildren(...rows);
  if (had?.dataset?.focus && had !== document.activeElement) refocus(had);
};

/* Open a dialog. The button calls `act`, and an error of `act` is shown. If the act is too late,
   or if its outcome is unknown, the dialog cannot be confirmed again. Without `act`, the dialog
   only shows its content. `link` is shown next to the button. */
export const open = ({ title, content, confirm, kind = "go", act, done, wide, link = null }) => {
  const from = document.activeElement;
  const id = `dialog-${(made += 1)}`;
  const heading = make("h2", { id, tabindex: "-1" }, title);
  const notice = make("p.notice.bad", { role: "alert", hidden: true });
  const leave = make("button", { type: "button", onclick: () => close() }, act ? "Cancel" : "Close");
  const does = act ? make(`button.${kind}`, { type: "submit" }, confirm) : null;
  const form = make("form", { novalidate: true, autocomplete: "off" },
    make("div.dialog-head", {}, heading),
    make("div.dialog-body", { tabindex: act ? null : "0" }, content),
    notice,
    make("div.dialog-acts", {}, leave, link, does));
  const dialog = make(wide ? "dialog.wide" : "dialog", { "aria-labelledby": id }, form);
  let busy = false;

  const close = () => {
    if (dialog.open) dialog.close();
  };
  dialog.addEventListener("close", () => {
    dialog.remove();
    refocus(from);
  });
  dialog.addEventListener("cancel", (event) => {
    if (busy) event.preventDefault();
  });

  const fail = (error) => {
    notice.textContent = error.message;
    notice.hidden = false;
    const over = error.unknown || error.status === 409 || error.status === 404;
    if (!over) return;
    does.remove();
    leave.textContent = "Close";
    leave.focus();
    done?.();
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!act || busy || does.disabled || !does.isConnected) return;
    busy = true;
    notice.hidden = true;
    does.disabled = true;
    does.textContent = "Sending…";
    try {
      const answer = await act();
      busy = false;
      close();
      done?.(answer);
    } catch (error) {
      fail(api.refusal(error));
    } finally {
      busy = false;
      does.disabled = false;
      does.textContent = confirm;
    }
  });

  document.body.append(dialog);
  dialog.showModal();
  heading.focus();
  if (does) {
    /* The second tap of a double tap can hit this new button. It is not an answer. */
    does.disabled = true;
    setTimeout(() => { does.disabled = busy; }, SETTLE_MS);
  }
};

export const closeAll = () => {
  for (const dialog of document.querySelectorAll("dialog")) dialog.remove();
};

/* Make an error about an input, and move the focus to it. */
export const wrong = (message, field) => {
  field?.focus();
  /* The notice above the question needs space and moves the question down. After the notice is
     shown, the whole question must be visible. */
  requestAnimationFrame(() => (field?.closest("fieldset") ?? field)?.scrollIntoView({ block: "nearest" }));
  return new api.Refused(message, { status: 422 });
};

/* Label a field. The label is a separate element that can be tapped too. */
export const field = (label, control, hint) => {
  const id = `field-${(made += 1)}`;
  control.id = id;
  const note = hint ? make("p.hint", { id: `${id}-hint` }, hint) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return make("div.field", {}, make("label", { for: id }, label), control, note);
};

/* Make a labeled line of text. `value` returns the typed text. If the text is empty, `value`
   throws `missing`. */
export const line = (label, missing, attributes = {}) => {
  const input = make("input", { type: "text", maxlength: "200", ...attributes });
  const value = () => {
    const text = input.value.trim();
    if (!text) throw wrong(missing, input);
    return text;
  };
  return { input, node: field(label, input), value };
};

/* Make a choice of one of several options, each large enough for a thumb. `options` are pairs of
   value and label. `value` returns the chosen value. If none is chosen, `value` throws
   `missing`. */
export const choice = (legend, name, options, { chosen = null, onchange, short = false, missing } = {}) => {
  const node = make(short ? "fieldset.choice.short" : "fieldset.choice", {}, make("legend", {}, legend),
    options.map(([value, label]) => make("label", {},
      make("input", { type: "radio", name, value, checked: value === chosen }),
      make("span", {}, label))));
  if (onchange) node.addEventListener("change", (event) => onchange(event.target.value));
  const value = () => {
    const found = node.querySelector("input:checked");
    if (!found) throw wrong(missing, node.querySelector("input"));
    return found.value;
  };
  return { node, value };
};

/* Make a button for a row of a list. `about` distinguishes the button from the same button of
   other rows. */
export const action = (label, about, onclick, { kind = "", off = "", id = about } = {}) =>
  make(kind ? `button.${kind}` : "button", {
    type: "button", disabled: Boolean(off), "aria-label": `${label}: ${about}`,
    "data-focus": `${label} ${id}`, onclick,
  }, label);
