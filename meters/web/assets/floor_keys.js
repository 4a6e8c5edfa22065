/* Keys of one letter, for people at a desk. They can be switched off: a screen reader or dictation
   may use the same keys. */

import { recall, remember } from "./floor_storage.js";
import { useLayoutEffect, useRef } from "./preact.js";

let isOn = recall("keys") !== "off";
const mark = () => document.documentElement.toggleAttribute("data-keys", isOn);
mark();

export const hasKeys = () => isOn;
export const setKeys = (next) => {
  isOn = next;
  remember("keys", isOn ? null : "off");
  mark();
};

const isTyping = ({ target }) => target.closest?.("input, textarea, select, [popover]");

/* Call the function of a key, by its name, while no dialog is open and nobody types. Enter is left
   to a button or a link that has the focus. */
export const useKeys = (keys) => {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => {
    const pressed = (event) => {
      const act = latest.current[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!act || !isOn || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event) || document.querySelector("dialog[open]")) return;
      if (event.key === "Enter" && event.target.closest?.("a, button, summary")) return;
      event.preventDefault();
      act();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
};
