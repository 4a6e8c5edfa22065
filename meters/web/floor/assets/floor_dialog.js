"use strict";
/* Dialogs: one question, what it is about said again, and one button that does it. */
const dialogs = (() => {
  const { make } = house;
  const SETTLE_MS = 400;
  let made = 0;

  /* An element that can have the focus when the one that had it has been drawn anew. */
  const refocus = (element) => {
    const key = element?.dataset?.focus;
    const again = key ? document.querySelector(`[data-focus="${CSS.escape(key)}"]`) : null;
    const heading = document.querySelector("main h1");
    const target = element?.isConnected && element !== document.body ? element : again ?? heading;
    target?.focus();
  };

  /* Ask. `act` is given the form and does it; what it throws is said, and where that may have
     changed nothing by itself (`stale`) or nobody knows, the button that does it is gone.
     Without `act` the dialog only shows; `beside` stands beside its button. */
  const open = ({ title, content, confirm, kind = "go", cancel = "Cancel", act, done, wide, beside = null }) => {
    const from = document.activeElement;
    const id = `dialog-${(made += 1)}`;
    const heading = make("h2", { id, tabindex: "-1" }, title);
    const notice = make("p.notice.bad", { role: "alert", hidden: true });
    const leave = make("button", { type: "button", onclick: () => close() }, act ? cancel : "Close");
    const does = act ? make(`button.${kind}`, { type: "submit" }, confirm) : null;
    const form = make("form", { novalidate: true, autocomplete: "off" },
      make("div.dialog-head", {}, heading),
      make("div.dialog-body", { tabindex: act ? null : "0" }, content),
      notice,
      make("div.dialog-acts", {}, leave, beside, does));
    const dialog = make(wide ? "dialog.wide" : "dialog", { "aria-labelledby": id }, form);
    let busy = false;

    const close = () => {
      if (dialog.open) dialog.close();
    };
    dialog.addEventListener("close", () => {
      dialog.remove();
      refocus(from);
    });
    dialog.addEventListener("cancel", (event) => {
      if (busy) event.preventDefault();
    });

    const fail = (error) => {
      notice.textContent = error.message;
      notice.hidden = false;
      const over = error.unknown || error.status === 409 || error.status === 404;
      if (over) {
        does.remove();
        leave.textContent = "Close";
        leave.focus();
      }
      if (over) done?.();
    };

    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (!act || busy || does.disabled || !does.isConnected) return;
      busy = true;
      notice.hidden = true;
      does.disabled = true;
      does.textContent = "Sending…";
      try {
        const answer = await act(form);
        busy = false;
        close();
        done?.(answer);
      } catch (error) {
        if (!(error instanceof service.Refused)) throw error;
        fail(error);
      } finally {
        busy = false;
        does.disabled = false;
        does.textContent = confirm;
      }
    });

    document.body.append(dialog);
    dialog.showModal();
    heading.focus();
    if (does) {
      /* A second tap that was meant for the button underneath is not an answer. */
      does.disabled = true;
      setTimeout(() => { does.disabled = busy; }, SETTLE_MS);
    }
    return { dialog, close };
  };

  const closeAll = () => {
    for (const dialog of document.querySelectorAll("dialog")) dialog.remove();
  };

  /* What is wrong with what was typed. */
  const wrong = (message, field) => {
    field?.focus();
    /* Once the notice stands above it: the whole question must be in sight, not one answer. */
    requestAnimationFrame(() => (field?.closest("fieldset") ?? field)?.scrollIntoView({ block: "nearest" }));
    return new service.Refused(message, { status: 422 });
  };

  /* A labelled field; the label is its own element, so that a thumb finds it. */
  const field = (label, control, hint) => {
    const id = `field-${(made += 1)}`;
    control.id = id;
    const told = hint ? make("p.hint", { id: `${id}-hint` }, hint) : null;
    if (told) control.setAttribute("aria-describedby", told.id);
    return make("div.field", {}, make("label", { for: id }, label), control, told);
  };

  /* One of several, each as large as a thumb. `options` are pairs of value and words. */
  const choice = (legend, name, options, { chosen = null, onchange = null, short = false } = {}) =>
    make(short ? "fieldset.choice.short" : "fieldset.choice", {}, make("legend", {}, legend), options.map(([value, told]) =>
      make("label", {},
        make("input", { type: "radio", name, value, checked: value === chosen, onchange: onchange ?? (() => {}) }),
        make("span", {}, told))));

  return { open, closeAll, wrong, field, choice, refocus };
})();
