/* The sign-in. */

import * as api from "./floor_api.js";
import { Field } from "./floor_dialog.js";
import * as session from "./floor_session.js";
import { LanguageChoice } from "./language_choice.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";
import { say } from "./say.js";

const CLEAR = say("Clear");
const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", CLEAR, "0", "⌫"];

const type = (input, key) => {
  if (key === CLEAR) input.value = "";
  else if (key === "⌫") input.value = input.value.slice(0, -1);
  else if (input.value.length < 12) input.value += key;
};

const Keypad = ({ input }) => html`
  <div class="keypad" role="group" aria-label=${say("Keypad")}>
    ${KEYS.map((key) => html`
      <button type="button" aria-label=${key === "⌫" ? say("Delete the last digit") : key} onClick=${() => type(input(), key)}>
        ${key}</button>`)}
  </div>`;

export const SignIn = ({ why = "", name = "" }) => {
  const form = useRef();
  const [error, setError] = useState("");
  const [sending, setSending] = useState(false);
  const input = (field) => form.current.elements[field];
  useLayoutEffect(() => {
    if (window.matchMedia("(pointer: fine)").matches) input(name ? "pin" : "name").focus();
  }, []);
  const refuse = (text, field) => {
    setError(text);
    input(field).focus();
  };
  const submit = async (event) => {
    event.preventDefault();
    if (sending) return;
    const [user, pin] = [input("name").value.trim(), input("pin").value];
    if (!user) return void refuse(say("Your name is needed."), "name");
    if (!pin) return void refuse(say("Your PIN is needed."), "pin");
    setError("");
    setSending(true);
    input("pin").value = "";
    try {
      await session.signIn(user, pin);
    } catch (refused) {
      refuse(session.describe(api.refusal(refused)), "pin");
      setSending(false);
    }
  };
  return html`
    <main class="door">
      <form ref=${form} class="sign-in" novalidate onSubmit=${submit}>
        <h1 tabindex="-1">${say("Sign in")}</h1>
        ${why && html`<p class="notice wait" role="status">${why}</p>`}
        <${Field} label=${say("Name")} name="name" autocomplete="username" autocapitalize="words"
          spellcheck=${false} maxlength="40" defaultValue=${name} />
        <${Field} label=${say("PIN")} type="password" name="pin" inputmode="numeric" autocomplete="off" maxlength="12" />
        <p class="notice bad" role="alert" hidden=${!error}>${error}</p>
        <${Keypad} input=${() => input("pin")} />
        <button class="go" type="submit" disabled=${sending}>${sending ? say("Signing in…") : say("Sign in")}</button>
        <${LanguageChoice} />
      </form>
    </main>`;
};
