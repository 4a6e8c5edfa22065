/* The address of what is shown: a view, and what is open in it, such as `#inbox/CLAIM`. */

import { useLayoutEffect, useState } from "./preact.js";

const read = () => {
  const [name, ...rest] = location.hash.slice(1).split("/");
  try {
    return { name, of: decodeURIComponent(rest.join("/")) };
  } catch {
    return { name, of: "" }; // somebody typed a part of an address
  }
};

export const hrefOf = (view, of = "") => `#${view}${of && `/${encodeURIComponent(of)}`}`;

/* Show something else. With `replace`, going back in the browser skips what is shown now. */
export const show = (view, of = "", { replace = false } = {}) => {
  if (replace) location.replace(hrefOf(view, of));
  else location.hash = hrefOf(view, of);
};

/* The address of the page on which a round is settled by hand, with the round of a ledger entry. */
export const disputeOf = (link, entry, position) =>
  `/settle?${new URLSearchParams({ link, entry, ...(position && { position }) })}`;

export const useRoute = () => {
  const [route, setRoute] = useState(read);
  useLayoutEffect(() => {
    const changed = () => setRoute(read());
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  return route;
};
