/* Amounts that expire. The style sheet hides an amount some seconds after it was last kept, so no
   old amount stays if the scripts fail, stop or never start. */

/* Keep the amounts in an element, which are current now. */
export const keep = (element) => {
  for (const animation of element.getAnimations({ subtree: true })) {
    if (animation.animationName?.startsWith("expire")) animation.currentTime = 0;
  }
};
