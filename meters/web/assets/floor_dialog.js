/* Acts as forms, alone or in dialogs. A dialog has a question, its subject, and one button that
   carries out the act. */

import * as api from "./floor_api.js";
import * as session from "./floor_session.js";
import { html, render, useLayoutEffect, useRef, useState } from "./preact.js";
import { say } from "./say.js";

const SETTLE_MS = 400;
const OWN_PIN = "own_pin";
/* The codes of refusals because somebody else has acted. */
const LATE = ["wrong_state", "no_request", "envy_decided", "unknown_ask", "unknown_proposal"];
const host = document.body.appendChild(document.createElement("div"));
let made = 0;
let shown = null;

/* Called if somebody else has decided what an open dialog is about. */
let overtaken = () => {};
export const overtake = (about) => overtaken(about);

export const closeAll = () => {
  shown = null;
  overtaken = () => {};
  render(null, host);
};

/* Open a dialog. The button calls `act` with the form, and an error of `act` is shown. If the act
   is too late, or if its outcome is unknown, the dialog cannot be confirmed again: `late` tells what
   somebody else did, as a receipt. `receipt` tells what `act` has done. Without `act`, the dialog
   only shows its content. `about` names the win that it is about, if any. */
export const open = (dialog) => {
  shown = made += 1;
  render(html`<${Dialog} key=${shown} number=${shown} ...${dialog} />`, host);
};

/* A form that carries out an act once: its phase, the error to show, and what its submission does.
   `acted` is called when the act is over, and `stuck` when the same act must not be tried again. A
   form that `settles` is not ready at once: the second tap of a double tap can hit its new button,
   and is not an answer. */
export const useAct = ({ act, done, receipt, late, acted = () => {}, stuck, settles = false }) => {
  /* A second press can come before the form is drawn again, so the phase is not only a state. */
  const phase = useRef(settles ? "opening" : "ready");
  const [, draw] = useState("");
  const [error, setError] = useState("");
  const enter = (next) => draw(phase.current = next);
  const needsPin = session.useLapsed() && Boolean(act);
  useLayoutEffect(() => {
    const settling = settles && setTimeout(() => enter("ready"), SETTLE_MS);
    return () => clearTimeout(settling);
  }, []);
  /* An error disappears when something else is entered. The error of a missing answer also disappears
     when the page has read the data again. */
  const clear = () => { if (phase.current === "ready") setError(""); };
  useLayoutEffect(() => {
    addEventListener("current", clear);
    return () => removeEventListener("current", clear);
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    if (!act || phase.current !== "ready") return;
    setError("");
    enter("sending");
    try {
      if (needsPin) await session.enterPin(needed(event.target, OWN_PIN, say("Your PIN is needed.")));
      const answer = await act(event.target);
      acted();
      done?.(answer);
      receipt?.(answer);
    } catch (refused) {
      const { code, unknown, status } = api.refusal(refused);
      if (late && LATE.includes(code) && await late(refused).then(() => true, () => false)) {
        acted();
        done?.();
        return;
      }
      const over = unknown || status === 409 || status === 404;
      if (code === "pin_needed") session.lapse();
      setError(session.describe(refused, Boolean(event.target.elements.colleague)));
      enter(over ? "over" : "ready");
      const { [OWN_PIN]: own, colleague_pin: theirs } = event.target.elements;
      if (own) own.value = "";
      if (code === "wrong_name_or_pin") lead(own ?? theirs);
      if (!over) return;
      stuck?.();
      await done?.();
      if (!stuck) enter("ready");
    }
  };
  return { phase: phase.current, error, needsPin, submit, clear };
};

export const OwnPin = () => html`
  <${Field} label=${say("PIN of {name}", { name: session.userName() })} name=${OWN_PIN} type="password" inputmode="numeric"
    autocomplete="off" maxlength="12" hint=${say("You did nothing for a while, so this needs your PIN.")} />`;

/* For the second person of an act, on the device of the first. Only this act is theirs. */
export const Colleague = () => html`
  <div class="panel pay-form" role="group" aria-label=${say("Signed by a colleague")}>
    <h3>${say("Signed by a colleague")} <span>${say("for this act alone: {name} stays signed in", { name: session.userName() })}</span></h3>
    <div class="two-fields">
      <${Field} label=${say("Name of the colleague")} name="colleague" maxlength="40" autocomplete="off" autocapitalize="words" spellcheck=${false} />
      <${Field} label=${say("PIN of the colleague")} name="colleague_pin" type="password" inputmode="numeric" autocomplete="one-time-code" maxlength="12" />
    </div>
  </div>`;

/* The part of an act's request that names the colleague, if the form asks for one. Read this part last,
   because reading it removes the PIN from the form. */
export const signature = (form) => {
  const { colleague, colleague_pin: typed } = form.elements;
  if (!colleague) return {};
  const name = needed(form, "colleague", say("The name of the colleague is needed."));
  const pin = needed(form, "colleague_pin", say("The PIN of the colleague is needed."));
  typed.value = "";
  return { colleague: { name, pin } };
};

const Dialog = ({ number, title, content, confirm, kind = "go", ...given }) => {
  const dialog = useRef();
  const leave = useRef();
  const { phase, error, needsPin, submit, clear } = useAct({
    ...given, settles: true, acted: () => dialog.current?.close(), stuck: () => leave.current?.focus(),
  });
  useLayoutEffect(() => {
    dialog.current.showModal();
    dialog.current.querySelector("h2").focus();
  }, []);
  const closed = () => {
    if (shown !== number) return;
    closeAll();
    if (document.activeElement === document.body) document.querySelector("main h1")?.focus();
  };
  const canAct = given.act && phase !== "over";
  useLayoutEffect(() => {
    overtaken = (about) => {
      if (about !== given.about || phase === "sending" || phase === "over") return;
      dialog.current.close();
      given.late?.().catch(api.refusal);
    };
  });

  return html`
    <dialog ref=${dialog} aria-labelledby=${`dialog-${number}`} onClose=${closed}
      onCancel=${(event) => { if (phase === "sending") event.preventDefault(); }}>
      <form novalidate autocomplete="off" onSubmit=${submit} onInput=${clear}>
        <div class="dialog-head"><h2 id=${`dialog-${number}`} tabindex="-1">${title}</h2></div>
        <div class="dialog-body" tabindex=${given.act ? null : "0"}>
          ${content}
          ${needsPin && html`<${OwnPin} />`}
        </div>
        <p class="notice bad" role="alert" hidden=${!error}>${error}</p>
        <div class="dialog-acts">
          <button ref=${leave} type="button" onClick=${() => dialog.current.close()}>${canAct ? say("Cancel") : say("Close")}</button>
          ${canAct && html`<button class=${kind} type="submit" disabled=${phase !== "ready"}>
            ${phase === "sending" ? say("Sending…") : confirm}</button>`}
        </div>
      </form>
    </dialog>`;
};

/* Ask for the PIN of a session that has lapsed. */
export const openPin = (done) => open({
  title: say("Enter your PIN"),
  content: html`<p>${say("Then you can act again.")}</p>`,
  confirm: say("Continue"),
  act: () => {},
  done,
});

/* Move the focus to an input. The notice above the question needs space and moves the question down.
   After the notice is shown, the whole question must be visible. */
const lead = (field) => {
  field?.focus();
  requestAnimationFrame(() => (field?.closest("fieldset") ?? field)?.scrollIntoView({ block: "nearest" }));
};

/* Make an error about an input, and move the focus to it. */
export const wrong = (message, field) => {
  lead(field);
  return new api.Refused(message, { status: 422 });
};

/* Return the text of a field, or the value of a choice; throw `missing` if there is none. */
export const needed = (form, name, missing) => {
  const value = form.elements[name].value.trim();
  if (!value) throw wrong(missing, form.querySelector(`[name=${name}]`));
  return value;
};

/* A labeled control: a line of text, or another control such as a select. The label is a separate
   element that can be tapped too. */
export const Field = ({ label, hint, control = "input", children, ...attributes }) => {
  const [id] = useState(() => `field-${(made += 1)}`);
  const line = control === "input" ? { type: "text", maxlength: "200" } : {};
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <${control} id=${id} aria-describedby=${hint ? `${id}-hint` : null} ...${line} ...${attributes}>${children}<//>
      ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
    </div>`;
};

/* A labeled select; `options` are pairs of value and label. */
export const Select = ({ options, chosen, children, ...attributes }) => html`
  <${Field} control="select" ...${attributes}>
    ${options.map(([value, label]) => html`<option value=${value} selected=${value === chosen}>${label}</option>`)}
    ${children}
  <//>`;

/* A choice of one of several options, each large enough for a thumb. `options` are pairs of value
   and label. */
export const Choice = ({ legend, name, options, chosen, onChoose, short = false }) => html`
  <fieldset class=${short ? "choice short" : "choice"} onChange=${(event) => onChoose?.(event.target.value)}>
    <legend>${legend}</legend>
    ${options.map(([value, label]) => html`
      <label key=${value}>
        <input type="radio" name=${name} value=${value} checked=${chosen && value === chosen} />
        <span>${label}</span>
      </label>`)}
  </fieldset>`;

/* A button of a win or of a row. `about` distinguishes it from the same button elsewhere, `sum` is
   the amount of the act, and `keyName` the key that leads to it: V for the first. */
export const Action = ({ label, about, sum = "", first = false, keyName = first ? "v" : null, kind = null, onClick }) => html`
  <button type="button" class=${kind} aria-label=${`${label}${sum && ` ${sum}`}: ${about}`} data-key=${keyName}
    onClick=${onClick}>
    ${label}${sum && html` <span class="sum">${sum}</span>`}</button>`;
