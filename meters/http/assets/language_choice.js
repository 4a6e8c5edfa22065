/* The choice of the language, in which each language has its own name. */

import { html } from "./preact.js";
import { LANGUAGES, language, say, speak } from "./say.js";

export const LanguageChoice = () => html`
  <select class="language" aria-label=${say("Language")} onChange=${({ currentTarget }) => speak(currentTarget.value)}>
    ${LANGUAGES.map(([each, name]) => html`
      <option key=${each} value=${each} lang=${each} selected=${each === language}>${name}</option>`)}
  </select>`;
