/* Data that a browser remembers of this page from one load to the next. Some browsers keep
   nothing, and the page works without it. */

export const recall = (name) => {
  try {
    return localStorage.getItem(`pitlink.floor.${name}`);
  } catch {
    return null;
  }
};

/* Remember a text, or delete it if it is null. */
export const remember = (name, text) => {
  try {
    if (text === null) localStorage.removeItem(`pitlink.floor.${name}`);
    else localStorage.setItem(`pitlink.floor.${name}`, text);
  } catch {
    /* The browser keeps nothing. */
  }
};
