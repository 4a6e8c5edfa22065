/* Sentences of the table's agent in the dealer's language. */

import { language, say } from "./say.js";

/* A plain text is a name, or somebody's own words. */
export const told = (said) => (typeof said === "string" ? said : say(said.text, said.values));

/* Refusals, by their code. In English, the page shows the agent's own words, which say more. */
const REFUSALS = {
  all_hands: say("The house requires the cards of every hand."),
  betting_locked: say("No more bets: betting is locked for this round."),
  busy: say("The table is still busy with the last touch. Wait a moment."),
  card_twice: say("One of these cards was entered too often."),
  cards_collected: say("The cards of this hand were collected: take its fold back first."),
  cards_entered: say("Cards of this round were entered: its wagers can no longer be corrected."),
  cards_first: say("First take back the entered cards and folds."),
  cards_needed: say("A Magic Card or a Lucky Bonus is drawn: enter the cards of this position."),
  cards_stay: say("The cards of this hand stay on the table."),
  changed: say("This has changed in the meantime. Look at what the panel shows, and press again."),
  chips_counted: say("The value chips of this round were counted already."),
  chips_first: say("Count the value chips before cards are dealt."),
  claims_wait: say("A win waits for a floorperson."),
  closed: say("The link is closed: no new progressive wager is accepted."),
  community_missing: say("A wager needs the community cards."),
  dealer_missing: say("The dealer's hand is not entered yet."),
  declared_no_win: say("This hand is declared to win nothing: take that back first."),
  events_lost: say("The service has lost what this table sent. Call a floorperson."),
  fold_first: say("Take the fold of this position back first."),
  fold_twice: say("This position folded already."),
  hand_missing: say("Enter the hand first."),
  hand_twice: say("This hand was entered already."),
  held: say("The table is held: the cards stay until the documents are done."),
  inoperable: say("The link is inoperable: no new progressive wager is accepted."),
  link_down: say("The link is down: no new progressive wager is accepted."),
  locked_out: say("The table is locked out: call a floorperson."),
  no_wager: say("This position does not have this wager."),
  not_locked: say("Betting is open: press Lock-out first."),
  not_passed_on: say("What this table sends does not arrive. Call a technician."),
  nothing_there: say("There is nothing to take back or to complete here."),
  outbox_failed: say("The table's machine cannot store the event. Call a technician."),
  patron_differs: say("These positions have different players."),
  round_over: say("The hands of this round were sent already."),
  same_patron: say("These positions belong to one player."),
  settlement_open: say("A settlement is open: pay it, and press Next round first."),
  taken_back_often: say("Cards were taken back too often: settle the round or void it."),
  unconfirmed: say("A request waits for a floorperson: wait, or withdraw it."),
  wager_twice: say("This wager is lit already."),
  wrong_cards: say("The number of cards is wrong."),
};

export const refusalText = ({ code, message }) => (language === "en" ? message : REFUSALS[code] ?? message);
