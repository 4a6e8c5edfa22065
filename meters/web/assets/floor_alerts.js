/* How a new row of the inbox is announced: by sound, by vibration, and by a notification of
   the browser if the page is not in front. A dedicated tablet can keep its screen on. */

import * as sound from "./floor_sound.js";
import { useLayoutEffect } from "./preact.js";

const VIBRATION_MS = [300, 150, 300, 150, 600];
const WORKER = new URL("./floor_worker.js", import.meta.url);
export const canNotify = "Notification" in window;
export const canStayOn = "wakeLock" in navigator;

/* A phone accepts notifications only from a service worker. This one handles no requests. */
export const register = () => navigator.serviceWorker?.register(WORKER).catch(() => null);

const notify = async (text) => {
  if (!canNotify || Notification.permission !== "granted") return;
  if (document.visibilityState === "visible" && document.hasFocus()) return;
  const options = { body: text, tag: "pitlink", renotify: true };
  try {
    new Notification(document.title, options).onclick = () => window.focus();
  } catch {
    const registration = await register();
    await registration?.showNotification(document.title, options).catch(() => {});
  }
};

export const announce = (text) => {
  sound.ring();
  navigator.vibrate?.(VIBRATION_MS);
  notify(text);
};

/* Keep the screen on while the page is in front. The browser ends this when the page is hidden. */
export const useScreenOn = (isOn) => {
  useLayoutEffect(() => {
    if (!isOn) return undefined;
    let lock = null;
    let isOver = false;
    const hold = async () => {
      if (document.visibilityState !== "visible") return;
      const got = await navigator.wakeLock.request("screen").catch(() => null);
      if (isOver) got?.release();
      else lock = got;
    };
    hold();
    document.addEventListener("visibilitychange", hold);
    return () => {
      isOver = true;
      lock?.release();
      document.removeEventListener("visibilitychange", hold);
    };
  }, [isOn]);
};
