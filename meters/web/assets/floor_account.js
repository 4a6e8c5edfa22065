/* The menu of the signed-in user: the switches of this device, their PIN, and the way out. */

import { canNotify, canStayOn, register, useScreenOn } from "./floor_alerts.js";
import { Icon } from "./floor_icons.js";
import { hasKeys, setKeys } from "./floor_keys.js";
import { Menu } from "./floor_menu.js";
import * as session from "./floor_session.js";
import { SoundButton, useSound } from "./floor_sound.js";
import { recall, remember } from "./floor_storage.js";
import { openOwnPin, ROLES } from "./floor_users.js";
import { LanguageChoice } from "./language_choice.js";
import { html, useLayoutEffect, useState } from "./preact.js";
import { say } from "./say.js";

const PERMISSIONS = {
  granted: say("New wins are shown as notifications while this page is not in front."),
  denied: say("Notifications are blocked for this page. You can allow them in the browser's settings."),
};
const THEMES = [["", say("As the system")], ["dark", say("Dark")], ["light", say("Light")]];

const Notifications = () => {
  const [permission, setPermission] = useState(canNotify ? Notification.permission : "none");
  useLayoutEffect(() => { if (permission === "granted") register(); }, [permission]);
  const ask = async () => setPermission(await Notification.requestPermission());
  if (permission === "default") return html`<button type="button" onClick=${ask}>${say("Show notifications")}</button>`;
  return PERMISSIONS[permission] && html`<p class="of">${PERMISSIONS[permission]}</p>`;
};

const ScreenSwitch = () => {
  const [staysOn, setStaysOn] = useState(canStayOn && recall("screen") === "on");
  useScreenOn(staysOn);
  const toggle = () => {
    remember("screen", staysOn ? "off" : "on");
    setStaysOn(!staysOn);
  };
  return canStayOn && html`
    <button type="button" aria-pressed=${String(staysOn)} onClick=${toggle}>
      ${staysOn ? say("Screen stays on") : say("Keep the screen on")}</button>`;
};

const Theme = () => {
  const [theme, setTheme] = useState(recall("theme") ?? "");
  const choose = ({ currentTarget: { value } }) => {
    remember("theme", value || null);
    window.dispatchEvent(new Event("theme"));
    setTheme(value);
  };
  return html`
    <label class="theme">${say("Colors")}
      <select onChange=${choose}>
        ${THEMES.map(([value, label]) => html`<option value=${value} selected=${value === theme}>${label}</option>`)}
      </select>
    </label>`;
};

const Language = () => html`<label class="theme">${say("Language")}<${LanguageChoice} /></label>`;

const KeysSwitch = () => {
  const [isOn, setOn] = useState(hasKeys);
  const toggle = () => {
    setKeys(!isOn);
    setOn(!isOn);
  };
  return html`
    <button type="button" aria-pressed=${String(isOn)} onClick=${toggle}>${isOn ? say("Keys are on: J, K, Enter, V, E, /") : say("Keys are off")}</button>`;
};

export const Account = ({ me }) => {
  const sound = useSound();
  return html`
    <${Menu} id="account" kind="who" label=${say("Account of {name}", me)} button=${html`
      <i aria-hidden="true">${me.name.slice(0, 1)}</i>
      <span class="name"><strong>${me.name}</strong> <small>${ROLES[me.role]}</small></span>
      ${sound !== "on" && html`<span class="muted" title=${say("No sound")}><${Icon} name="mute" /></span>`}`}>
      <p class="of">${me.facility}</p>
      <${SoundButton} sound=${sound} />
      <${Notifications} />
      <${ScreenSwitch} />
      <${KeysSwitch} />
      <${Theme} />
      <${Language} />
      <a href="/docs" target="_blank">${say("Help")}</a>
      ${!me.choose_pin && html`<button type="button" data-closes="" onClick=${() => openOwnPin()}>${say("My PIN")}</button>`}
      <button type="button" onClick=${() => session.signOut()}>${say("Sign out")}</button>
    <//>`;
};
