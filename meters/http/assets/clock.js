/* Elapsed time from two clocks. The wall clock can be set, and the steady clock can stop while a
   machine sleeps, so the larger of the two values counts. */

export const now = (age = 0) => ({ steady: performance.now() - age, wall: Date.now() - age });

export const since = (then) => {
  const at = now();
  return Math.max(at.steady - then.steady, at.wall - then.wall);
};
