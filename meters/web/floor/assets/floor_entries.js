/* Lists of past acts, latest first, read page by page. */

import { make } from "./elements.js";
import * as api from "./floor_api.js";
import * as format from "./floor_format.js";

export const entry = (at, what, by, about) =>
  make("li", {},
    make("span.when", {}, format.moment(at)),
    make("span.main", {}, what),
    make("span.by", {}, by),
    make("span.about", {}, about));

export class Entries {
  /* `row` makes the element of an entry. `refused` is called with an error. */
  constructor(path, limit, row, refused) {
    Object.assign(this, { path, limit, row, refused });
    this.list = make("ol.entries", {});
    this.more = make("button", { type: "button", hidden: true, onclick: () => this.read(this.last) }, "Earlier");
  }

  /* Read the latest page, or the page before an entry. */
  async read(before = null) {
    try {
      const found = await api.get(this.path, { before, limit: this.limit });
      if (before === null) this.list.replaceChildren();
      this.list.append(...found.map(this.row));
      this.last = found.at(-1)?.entry ?? null;
      this.more.hidden = found.length < this.limit;
    } catch (error) {
      this.refused(api.refusal(error));
    }
  }
}
