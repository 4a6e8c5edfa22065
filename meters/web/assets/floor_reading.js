/* State that is read from the service. */

import { afterPress } from "./after_press.js";
import * as api from "./floor_api.js";
import { useLayoutEffect, useRef, useState } from "./preact.js";

const RETRY_MS = 2000;

/* Read an answer at first, and again whenever a value in `changes` changes. `found` is the last
   answer, `at` the service's time of it, and `error` the reason why a later request failed. After
   such a failure, `current` is null; otherwise it is `found`. `readAt` is the time of the answer on
   the page's clock, which is never set. A new answer waits for the end of a press, so no button moves
   under a finger. */
export const useAnswer = (load, changes = []) => {
  const [answer, setAnswer] = useState({ found: null, error: "", at: null, readAt: 0, answers: 0 });
  const order = useRef({ asked: 0, answered: 0 }).current;
  const read = async () => {
    const asked = (order.asked += 1);
    let now;
    try {
      now = { found: await load(), error: "", at: api.now(), readAt: performance.now() };
    } catch (error) {
      now = { error: api.refusal(error).message };
    }
    /* An answer to an older request must not replace the answer to a newer request. */
    if (asked < order.answered) return;
    order.answered = asked;
    afterPress(() => setAnswer((before) => ({ ...before, ...now, answers: before.answers + 1 })));
  };
  useLayoutEffect(() => { read(); }, changes);
  return { ...answer, current: answer.error ? null : answer.found, read };
};

/* Like useAnswer, but a read that failed is repeated until one succeeds. */
export const useCurrent = (load, changes) => {
  const answer = useAnswer(load, changes);
  useLayoutEffect(() => {
    const retry = answer.error && setTimeout(answer.read, RETRY_MS);
    return () => clearTimeout(retry);
  }, [answer.answers]);
  return answer;
};

/* A number that rises by one every `everyMs` milliseconds. */
export const useTurn = (everyMs) => {
  const [turn, setTurn] = useState(0);
  useLayoutEffect(() => {
    const timer = setInterval(() => setTurn((before) => before + 1), everyMs);
    return () => clearInterval(timer);
  }, []);
  return turn;
};

/* The service's time, once a second: at the same moment in all components. */
const clocks = new Set();
const tick = () => {
  const now = api.now();
  for (const setNow of clocks) setNow(now);
};
let ticking = 0;

export const useNow = () => {
  const [now, setNow] = useState(api.now);
  useLayoutEffect(() => {
    clocks.add(setNow);
    ticking ||= setInterval(tick, 1000);
    return () => {
      clocks.delete(setNow);
      if (clocks.size) return;
      clearInterval(ticking);
      ticking = 0;
    };
  }, []);
  return now;
};
