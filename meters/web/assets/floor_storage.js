/* Data that a browser keeps for this page from one load to the next. Some browsers keep nothing.
   The page works without the data. */

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
    /* This browser keeps nothing. */
  }
};
