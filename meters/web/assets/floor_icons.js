/* Icons as paths, which no font can turn into something else. */

import { html } from "./preact.js";

const PATHS = {
  back: "m14.5 5-7 7 7 7",
  broken: "M8.5 4.3A8.5 8.5 0 0 1 20.4 10M15.5 19.7A8.5 8.5 0 0 1 3.6 14M12 8v4.5M12 16v.01",
  chart: "M4 4v16h16m-12.5-5 4-5 3 2.5L19.5 6",
  check: "m4.5 12.5 5 5 10-11",
  clock: "M20.5 12a8.5 8.5 0 1 1-17 0 8.5 8.5 0 0 1 17 0ZM12 7v5.3l3.5 2",
  close: "m6 6 12 12M18 6 6 18",
  diamond: "M12 3.5 20 12l-8 8.5L4 12Z",
  doc: "M6 3h8.5L19 7.5V21H6Zm3 9h7m-7 4h7M14 3v5h5",
  floor: "M4 6h16v3a8 8 0 0 1-16 0Zm3 14h10m-5-3v3",
  gauge: "M4 17a8.5 8.5 0 1 1 16 0m-8-2 4-5.5",
  half: "M20.5 12a8.5 8.5 0 1 1-17 0 8.5 8.5 0 0 1 17 0Z",
  handpay: "M4.5 5h15A1.5 1.5 0 0 1 21 6.5v7a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 13.5v-7A1.5 1.5 0 0 1 4.5 5ZM14.3 10a2.3 2.3 0 1 1-4.6 0 2.3 2.3 0 0 1 4.6 0ZM6 19h12",
  inbox: "M4 13.5 6.5 5h11L20 13.5V19H4Zm0 0h4.5c.5 2 1.5 3 3.5 3s3-1 3.5-3H20",
  lock: "M6.5 10.5h11A1.5 1.5 0 0 1 19 12v7a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 5 19v-7a1.5 1.5 0 0 1 1.5-1.5Zm1.5 0v-3a4 4 0 0 1 8 0v3",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  mute: "M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15ZM10 21h4M4 4l16 16",
  octagon: "M8.3 3h7.4L21 8.3v7.4L15.7 21H8.3L3 15.7V8.3ZM8 12h8",
  one: "M15.6 8a3.6 3.6 0 1 1-7.2 0 3.6 3.6 0 0 1 7.2 0ZM5 20.5c.6-4.7 3.3-7 7-7s6.4 2.3 7 7",
  print: "M7 9V3.5h10V9M7 17H4V9h16v8h-3M7 14h10v6.5H7Z",
  proposal: "m4 20 1-4.5L16.5 4l3.5 3.5L8.5 19Z",
  reject: "M20.5 12a8.5 8.5 0 1 1-17 0 8.5 8.5 0 0 1 17 0ZM6.2 6.2l11.6 11.6",
  search: "M17.5 11a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0Zm-1.5 5 4.5 4.5",
  two: "M11.7 8a3.2 3.2 0 1 1-6.4 0 3.2 3.2 0 0 1 6.4 0Zm7.4 1a2.6 2.6 0 1 1-5.2 0 2.6 2.6 0 0 1 5.2 0ZM2.5 20c.5-4.5 2.8-6.5 6-6.5s5.5 2 6 6.5M17 14c2.7 0 4.2 1.8 4.5 5",
};

const FILLED = { half: "M12 3.5a8.5 8.5 0 0 1 0 17Z" };

export const Icon = ({ name }) => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d=${PATHS[name]} />${FILLED[name] && html`<path class="filled" d=${FILLED[name]} />`}</svg>`;

export const Logo = () => html`
  <svg class="logo" viewBox="0 0 100 100" aria-hidden="true">
    <path class="outline" d="M31 5h38l4 13h21L84 43h-9l-8 52H33l-8-52h-9L6 18h21Z" />
    <path d="M40 30h20l-4 50H44Z" /></svg>`;
