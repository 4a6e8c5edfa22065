-- Applies a batch of table events to one link. One atomic step checks the sequence numbers (seq) of
-- the events, and changes the meters, the ledger and the kept replies. Each event is checked
-- against the data that the earlier events of the batch leave.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 tables  9 rounds  10 replies  11 repeated claims  12 correction requests (asks)
--       13 dealt cards  14…  the keys of claims; the events refer to a key by its index
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 replies kept per table
--       4 the events, msgpack: an array each, as `script_steps.py` describes them
--       5 count of results whose dealt cards are remembered
--       6 the texts of the events and of their replies, compressed, for the ledger. In front of an
--       event that wins must-hit-by meters, this and ARGV 7… have the entries of the new hidden
--       values, one for each win
--       7… for each event, in the same order, the digests of the event and of its reply, as the
--       chain covers them. The digest of a reply with gaps for amounts is missing: ARGV 4 has the
--       parts of this reply.
-- Output  msgpack, `ScriptAnswers` of `script_steps.py`: `terms` is false if the link's terms are
--         not those of ARGV 2, and nothing was done. Each event has one `ScriptAnswer`, in the same
--         order. Its status is one of these, in the order of precedence:
--   again       this seq was already answered, for the same event; the answer has the kept reply,
--               or the number of the ledger entry with this reply
--   seq_reused  this seq was already answered, for another event
--   seq_passed  this seq was answered; the reply is no longer kept
--   gap         an event with a lower seq is missing; the answer has the expected seq as text
--   moved       the round or its wagers changed after the validation, or a correction of the round
--               was requested. With the text `hidden`: a must-hit-by meter has another amount than
--               the service assumed, for this event or for an earlier one of the table in this call.
--               With the text `link`: other rounds of the link are open than the service assumed
--   accepted    the answer has the ledger entry and, for each due of a result, its cents and the
--               cents of its meter after the due. The service makes the reply with these amounts.
--   refused     the validation has refused the event
--   held        refused here (after link_closed): wins hold the table
--   unconfirmed  refused here (after books_full): a floorperson must confirm the correction. The
--               answer has true if the correction request is new.
--   correction_refused  refused here (after books_full): a person refused the correction
--   withdrawn   the table withdrew its correction request
--   and refused here: round_open, after_lockout, round_over, link_closed, unknown_round, meter_full,
--   books_full, other_meters (the round contributed to other meters than the wager does now)

local TABLES, ROUNDS, REPLIES = KEYS[8], KEYS[9], KEYS[10]
local REPEATED_CLAIMS, ASKS, DEALT = KEYS[11], KEYS[12], KEYS[13]

--include books
--include tables
--include repeated_claims
--include present
--include refused

local TERMS, REPLIES_KEPT, EVENTS = ARGV[2], tonumber(ARGV[3]), ARGV[4]
local DEALT_KEPT, TEXTS, TEXTS_BEFORE = tonumber(ARGV[5]), ARGV[6], 6

if (meters['terms'] or '') ~= TERMS then
  return cmsgpack.pack({ [ANSWERS_TERMS] = false })
end

-- Each event is unpacked as `array_of` explains. ARGV 4 begins with the head of the array of all
-- events: one byte, or three bytes if there are more than 15 events. `places` has the place of each
-- event's own texts.
local events, places, next_event = {}, {}, string.byte(EVENTS) >= 0xdc and 3 or 1

local function unpack_event(next, ...)
  next_event = next
  return { ... }
end

-- The contributions of wagers, by their JSON text. Many tables have the same wagers, so each text
-- is decoded once.
local contributions = {}

-- The must-hit-by meters that the events feed.
local hidden_meters, is_hidden = {}, {}

-- Reads the tables and the accounts that the events need, with one command each.
do
  local ids, accounts, known = {}, {}, {}
  local function need(list, name)
    if not known[name] then
      known[name] = true
      list[#list + 1] = name
    end
  end
  local place = 0
  local function need_hidden(steps)
    for _, hidden in ipairs(steps) do
      local meter = hidden[HIDDEN_METER]
      if not is_hidden[meter] then
        is_hidden[meter], hidden_meters[#hidden_meters + 1] = true, meter
      end
      if #hidden[HIDDEN_HITS] > 0 then need(accounts, 'house') end
      place = place + #hidden[HIDDEN_HITS]
    end
  end
  while place < #ARGV - TEXTS_BEFORE do
    local event = unpack_event(cmsgpack.unpack_limit(EVENTS, EVENT_FIELDS, next_event + 1))
    events[#events + 1] = event
    need(ids, event[EVENT_TABLE])
    local kind, work, text = event[EVENT_KIND], event[EVENT_WORK], nil
    if kind == 'wagers' then
      text = work[WAGERS_WORK_CONTRIBUTIONS]
      need_hidden(work[WAGERS_WORK_HIDDEN])
    elseif kind == 'correct_wager' then
      text = work and work[CORRECTION_WORK_CONTRIBUTIONS]
      if work then need_hidden(work[CORRECTION_WORK_HIDDEN]) end
    elseif kind == 'result' then
      need(accounts, 'house')
      need(accounts, 'paid')
    end
    if text then
      need(accounts, TABLE_ACCOUNT[event[EVENT_TABLE]])
      if not contributions[text] then
        contributions[text] = cjson.decode(text)
        for _, added in ipairs(contributions[text]) do
          need(accounts, METER_ACCOUNT[added[ADDED_METER]])
          need(accounts, OVERFLOW_ACCOUNT[added[ADDED_METER]])
          need(accounts, RESERVE_ACCOUNT[added[ADDED_METER]])
          if added[ADDED_OVERFLOW_TO] ~= '' then
            need(accounts, METER_ACCOUNT[added[ADDED_OVERFLOW_TO]])
            need(accounts, OVERFLOW_ACCOUNT[added[ADDED_OVERFLOW_TO]])
          end
        end
      end
    end
    place = place + 1
    places[#events] = place
  end
  read_tables(ids)
  read_balances(accounts)
end

local NONE = {} -- an empty array, which nothing changes

-- The tables whose text in the hash of rounds is no longer needed: their round has ended, or a
-- ledger entry has its wagers again. `opened_claims` has for each table the claims that its results
-- in this call opened.
local ended_rounds, opened_claims = {}, {}

-- The kept replies of this call, as the arguments of an HSET command. The field of a reply is
-- `TABLE:SLOT`, so a new reply replaces the reply of REPLIES_KEPT events before. The text is the
-- event's seq, a blank, the event's digest, and the reply. If a ledger entry has the reply, '#' and
-- the number of this entry stand in place of the reply.
local reply_fields = {}

local function slot_of(table_id, seq)
  return table_id .. ':' .. EXACT[seq % REPLIES_KEPT]
end

-- Returns the digest of an event and the reply to it, or nil if the reply is no longer kept.
local function kept_reply(table_id, seq)
  local field, named = slot_of(table_id, seq), exact(seq) .. ' '
  local text
  for index = #reply_fields - 1, 1, -2 do
    if reply_fields[index] == field then
      text = reply_fields[index + 1]
      break
    end
  end
  text = text or redis.call('HGET', REPLIES, field)
  return text and string.sub(text, 1, #named) == named and string.sub(text, #named + 1) or nil
end

-- Together, `mark` and `reply` are the reply, or '#' and the number of the ledger entry with the
-- reply.
local function keep_reply(table_id, seq, digest, mark, reply)
  set_table(table_id, TABLE_LAST, seq)
  local last = #reply_fields
  reply_fields[last + 1] = slot_of(table_id, seq)
  reply_fields[last + 2] = EXACT[seq] .. ' ' .. digest .. mark .. reply
end

-- Replaces the open round of a table. The caller also sets the last seq, so the table is written.
local function set_round(at, seq, round, entry, draw, contributed, change)
  at[TABLE_ROUND], at[TABLE_BASIS], at[TABLE_DRAW], at[TABLE_KNOWN] = round, seq, draw, ''
  at[TABLE_CONTRIBUTED], at[TABLE_ENTRY] = contributed, entry
  add_rounds(change)
end

-- The correction request of each table. `text` begins with the digest and the id of the request; it
-- is '' without a request. `decision` is '' if nobody has decided on the request. Changes are
-- written to Redis at the end of this call, like the changes in `tables`.
local asks, ask_writes, has_asks = {}, {}, nil

local function ask_at(table_id)
  if not asks[table_id] then
    if has_asks == nil then has_asks = redis.call('EXISTS', ASKS) == 1 end -- there is rarely one
    local text, decision
    if has_asks then text, decision = unpack(redis.call('HMGET', ASKS, table_id, table_id .. '!')) end
    asks[table_id] = { text = text or '', decision = decision or '' }
  end
  return asks[table_id]
end

local function drop_ask(table_id)
  local ask = ask_at(table_id)
  if ask.text == '' and ask.decision == '' then return end
  ask.text, ask.decision = '', ''
  ask_writes[#ask_writes + 1] = { 'HDEL', ASKS, table_id, table_id .. '!' }
  touch_floor()
end

local function put_ask(table_id, text)
  drop_ask(table_id)
  ask_at(table_id).text = text
  ask_writes[#ask_writes + 1] = { 'HSET', ASKS, table_id, text }
  touch_floor()
end

-- Checks whether the correction in an event is allowed. If somebody confirmed it, returns nil and
-- this person; if nobody needs to confirm it, returns nil; otherwise returns the code of the
-- refusal. A decision is valid for exactly one request: a confirmation until the round ends, a
-- refusal until the table's next try. The cards of every request stay known until the round ends:
-- so the service knows that the round's next void or result is a correction too.
local function confirmation(event)
  local table_id, new = event[EVENT_TABLE], event[EVENT_ASK]
  if not new then return nil end
  local ask, named = ask_at(table_id), new[ASK_DIGEST] .. '\n'
  if string.sub(ask.text, 1, #named) ~= named then
    put_ask(table_id, named .. new[ASK_ASK] .. '\n' .. new[ASK_TEXT])
    tables[table_id][TABLE_KNOWN] = new[ASK_KNOWN] -- `keep_reply` marks the table as changed
    return 'unconfirmed', '1'
  end
  local state, decided = string.match(ask.decision, '^(%a+)\n(.*)$')
  if state == 'confirmed' then return nil, decided end
  if state == 'refused' then
    drop_ask(table_id)
    return 'correction_refused', (string.gsub(decided, '^[^\n]*\n', ''))
  end
  return 'unconfirmed', ''
end

-- Ends the request for a correction that is refused, except if the reason is the missing
-- confirmation. The table does not repeat the refused correction, so nobody needs to decide on the
-- request. If somebody has confirmed the request, the confirmation is used up.
local function end_request(event)
  local table_id, new = event[EVENT_TABLE], event[EVENT_ASK]
  local named = new and new[ASK_DIGEST] .. '\n'
  if new and string.sub(ask_at(table_id).text, 1, #named) == named then drop_ask(table_id) end
end

local function by_table(table_id, confirmed_by)
  local by = TABLE_ACCOUNT[table_id]
  return confirmed_by and by .. ', confirmed by ' .. confirmed_by or by
end

local function end_round(table_id, opened)
  local at = tables[table_id]
  if at[TABLE_ENTRY] == 0 then ended_rounds[#ended_rounds + 1] = table_id end
  at[TABLE_OVER] = at[TABLE_ROUND]
  set_round(at, 0, '', 0, '', NONE, -1)
  if #opened > 0 then
    local every = opened_claims[table_id] or {}
    for _, claim in ipairs(opened) do every[#every + 1] = claim end
    opened_claims[table_id] = every
  end
  drop_ask(table_id)
end

local function round_problem(at, round)
  if at[TABLE_ROUND] == round and round ~= '' then return nil end
  return at[TABLE_OVER] == round and 'round_over' or 'unknown_round'
end

-- Adds the ledger entry of an event, in the form of stored entries of tables (`stored_entries.py`).
-- `place` is the place of the event and its texts in the call. `texts` are the digests of these
-- texts, as the chain covers them. `cents` are the amounts in the reply. If `event` is an act, the
-- entry gets into the index of acts.
local function note_event(event, by, place, texts, transfers, cents)
  local kind, table_id, round, seq = event[EVENT_KIND], event[EVENT_TABLE], event[EVENT_ROUND], EXACT[event[EVENT_SEQ]]
  local moved = transfers_text(transfers)
  local number = chain_entry(kind, by, table_id, round, seq, moved, texts)
  entries[#entries + 1] = { kind, AT, by, table_id, round, seq, moved, place, cents, chain }
  if event[EVENT_ACT] then acts[#acts + 1] = number end
  return last_entry
end

-- The writes about claims. `waits` and `wins` are the arguments of ZADD commands.
local claim_writes, waits, wins = {}, {}, {}

-- A meter has two lists in the index of wins, both in the order of the ledger: with ':' all its
-- wins, with '!' only the wins of a percentage of the meter (duty D16).
local function index_win(meter, mark, entry, claim)
  wins[#wins + 1], wins[#wins + 2] = '0', format('%s%s%016d:%s', meter, mark, entry, claim)
end

local function wait_for(claim, entry)
  waits[#waits + 1], waits[#waits + 2] = exact(entry), claim
  touch_floor()
end

-- Holds a table for a win whose cards must stay on the table until the documents of the win are
-- complete. The script `decide_claim` releases the table (649a.11(c)(5)(iv), (7)(iv), (8)(iii),
-- (9)(iv)).
local function hold_table(table_id, due, cents)
  local held, named = tables[table_id][TABLE_HELD], due[DUE_HOLDS] .. exact(cents) .. '}'
  set_table(table_id, TABLE_HELD, held == '' and named or held .. '\n' .. named)
end

-- Opens the claim of a win that waits until a floorperson has validated it (649a.11(c)(5)(iii),
-- (7)(iii), (8)(ii), (9)(iii)).
local function open_claim(due, entry, cents, after)
  local meter, claim, percent = due[DUE_METER], due[DUE_CLAIM], due[DUE_TAKE] > 0
  claim_writes[#claim_writes + 1] = {
    'HSET', KEYS[due[DUE_CLAIM_KEY]], 'record', due[DUE_RECORD], 'amount', exact(cents), 'after', exact(after), 'state', 'pending',
    'entry', exact(entry), 'at', AT,
  }
  wait_for(claim, entry)
  index_win(meter, ':', entry, claim)
  if percent then
    index_win(meter, '!', entry, claim)
    set_meter('pending:' .. meter, count_of(meters, 'pending:' .. meter) + 1)
    touch_meter(meter)
  end
end

-- Opens the claims of wins of must-hit-by meters, which hold no table: no cards need to stay there.
-- Returns the amounts, the meters after them, and the entry, as a result does.
local function open_hits(table_id, hits, entry)
  local paid, every = {}, opened_claims[table_id] or {}
  for index, hit in ipairs(hits) do
    local due = hit[HIT_DUE]
    open_claim(due, entry, due[DUE_FIXED_CENTS], hit.after_cents)
    paid[index] = { due[DUE_FIXED_CENTS], hit.after_cents, entry }
    every[#every + 1] = due[DUE_CLAIM]
  end
  opened_claims[table_id] = every
  return paid
end

local APPLY = {}

-- Returns what wagers add to a meter and to its reserve. If the meter has a threshold, its balance
-- before the event decides, so this is called before the event changes the meter.
local function amounts_of(added)
  local threshold = added[ADDED_THRESHOLD_MICROS]
  if threshold > 0 and balance(METER_ACCOUNT[added[ADDED_METER]]) >= threshold then
    return added[ADDED_METER_ABOVE_MICROS], added[ADDED_RESERVE_ABOVE_MICROS]
  end
  return added[ADDED_METER_MICROS], added[ADDED_RESERVE_MICROS]
end

-- Checks that the numbers in the accounts do not become too large with the contributions `every`.
local function can_contribute(from, every)
  local leaving = 0
  for _, added in ipairs(every) do
    local meter, to_meter, to_reserve = added[ADDED_METER], amounts_of(added)
    leaving = leaving + to_meter + to_reserve
    if not can_receive(METER_ACCOUNT[meter], to_meter) or not can_receive(OVERFLOW_ACCOUNT[meter], to_meter)
      or not can_receive(RESERVE_ACCOUNT[meter], to_reserve) then
      return false
    end
  end
  -- A meter can also get what is above the limits of others: with all of the event, it must fit.
  for _, added in ipairs(every) do
    local there = added[ADDED_OVERFLOW_TO]
    if there ~= '' and not (can_receive(METER_ACCOUNT[there], leaving) and can_receive(OVERFLOW_ACCOUNT[there], leaving)) then
      return false
    end
  end
  return leaves(from, leaving)
end

-- The service has decided who wins a must-hit-by meter. Returns whether the meters have the amounts
-- and the hidden values for which it decided.
local function is_as_decided(steps)
  for _, hidden in ipairs(steps) do
    local meter = hidden[HIDDEN_METER]
    if balance(METER_ACCOUNT[meter]) ~= hidden[HIDDEN_METER_MICROS]
      or balance(RESERVE_ACCOUNT[meter]) ~= hidden[HIDDEN_RESERVE_MICROS]
      or meters['hidden:' .. meter] ~= hidden[HIDDEN_SEALED] then
      return false
    end
  end
  return true
end

local function hits_of(steps)
  local hits = {}
  for _, hidden in ipairs(steps) do
    for _, hit in ipairs(hidden[HIDDEN_HITS]) do hits[#hits + 1] = hit end
  end
  return hits
end

-- Checks that the numbers in the accounts do not become too large with the wins of an event.
local function hits_fit(hits)
  local micros = 0
  for _, hit in ipairs(hits) do micros = micros + hit[HIT_RESEED_MICROS] end
  return leaves('house', micros)
end

-- `plans` is explained below.
local plans, hidden_writes = {}, {}

-- Adds what wagers contribute to a must-hit-by meter. Each win takes the contributions up to the
-- winning wager; then the meter begins its next cycle, and the other wagers feed that one.
local function feed_hidden(transfers, from, meter, micros, hits)
  local account, cycle = METER_ACCOUNT[meter], cycle_of(meter)
  for _, hit in ipairs(hits) do
    local due = hit[HIT_DUE]
    local claim = 'claim:' .. due[DUE_CLAIM]
    transfer(transfers, from, account, hit[HIT_MICROS], cycle)
    transfer(transfers, account, claim, due[DUE_FIXED_CENTS] * MICROS_PER_CENT, cycle)
    micros, cycle, plans = micros - hit[HIT_MICROS], cycle + 1, {}
    transfer(transfers, RESERVE_ACCOUNT[meter], account, hit[HIT_FROM_RESERVE_MICROS], cycle)
    transfer(transfers, 'house', account, hit[HIT_RESEED_MICROS], cycle)
    set_meter(CYCLE_FIELD[meter], cycle)
    meters['hidden:' .. meter] = hit[HIT_SEALED]
    hidden_writes['hidden:' .. meter] = hit[HIT_SEALED]
    hit.after_cents = math.floor(balance(account) / MICROS_PER_CENT)
    tally('wins', 1)
    tally('won_cents', due[DUE_FIXED_CENTS])
    tally_meter('wins:', meter, 1)
    tally_meter('won_cents:', meter, due[DUE_FIXED_CENTS])
    tally_meter('hits:', meter, 1)
  end
  transfer(transfers, from, account, micros, cycle)
end

-- 649a.12(e)(3), (h)(3), (i)(4), (j)(3): adds the contribution of each accepted wager to the meter
-- and to the meter's reserve. A meter does not rise above its payout limit: the rest goes to the
-- meter's overflow (duty D3), or through it to another meter. The service has put the meters whose
-- rest goes to another meter last, so that this other meter first gets its own contribution. The
-- contributions of the round are added to `contributed`. `wager` is the wager that a correction
-- added, or empty. `hidden` are the event's must-hit-by meters.
local function contribute(transfers, from, every, contributed, wager, hidden)
  local hits = {}
  for _, one in ipairs(hidden) do hits[one[HIDDEN_METER]] = one[HIDDEN_HITS] end
  for _, added in ipairs(every) do
    local meter, to_meter, to_reserve = added[ADDED_METER], amounts_of(added)
    local wagers, cents, cycle, over = added[ADDED_WAGERS], added[ADDED_WAGERED_CENTS], cycle_of(meter), 0
    if hits[meter] then
      feed_hidden(transfers, from, meter, to_meter, hits[meter])
    else
      over = fill_meter(transfers, from, meter, to_meter, cycle, added[ADDED_LIMIT_MICROS], added[ADDED_OVERFLOW_TO],
        added[ADDED_LIMIT_THERE_MICROS])
    end
    transfer(transfers, from, RESERVE_ACCOUNT[meter], to_reserve, cycle)
    touch_meter(meter)
    tally_meter('wagers:', meter, wagers)
    tally_meter('wagered_cents:', meter, cents)
    -- In the order of `RoundContribution`. Lua makes a table without named positions faster.
    local passed_to, passed_cycle = '', 0
    if over > 0 and added[ADDED_OVERFLOW_TO] ~= '' then
      passed_to, passed_cycle = added[ADDED_OVERFLOW_TO], cycle_of(added[ADDED_OVERFLOW_TO])
    end
    contributed[#contributed + 1] =
      { meter, wagers, cents, to_meter - over, to_reserve, over, cycle, wager, passed_to, passed_cycle }
  end
end

-- Adds the entries of the new hidden values, whose texts are in front of those of the event at
-- `place`.
local function note_drawn(hits, place)
  for index in ipairs(hits) do
    local own = place - #hits + index - 1
    local number = chain_entry('hidden_value', 'service', '', '', '0', '[]', ARGV[TEXTS_BEFORE + own])
    entries[#entries + 1] = { 'hidden_value', AT, 'service', '', '', '0', '[]', own, NONE, chain }
    acts[#acts + 1] = number
  end
end

-- Many tables place the same wagers, so the changes by such wagers are worked out once: a plan for
-- each list of contributions. A plan is valid while no meter begins a new cycle, reaches its limit,
-- or has its threshold before the wagers.
local plans_made = {}

local function plan_account(plan, account, micros, most, cycle)
  local last = #plan.accounts + 1
  plan.accounts[last], plan.micros[last], plan.most[last] = account, micros, most
  plan.ends[last] = micros > 0 and '","' .. account .. '",' .. EXACT[micros] .. ',' .. EXACT[cycle] .. ']'
end

local function plan_of(every)
  if plans[every] then return plans[every] end
  local plan = { every = every, times = 0, leaving = 0, accounts = {}, micros = {}, most = {}, ends = {}, contributed = {} }
  for index, added in ipairs(every) do
    local meter, wagers, cents, to_meter, to_reserve, limit, threshold = unpack(added)
    local cycle, most = cycle_of(meter), limit > 0 and limit or MICROS_MAX
    if threshold > 0 then most = math.min(most, threshold - 1 + to_meter) end
    plan.leaving = plan.leaving + to_meter + to_reserve
    plan_account(plan, METER_ACCOUNT[meter], to_meter, most, cycle)
    plan_account(plan, OVERFLOW_ACCOUNT[meter], 0, 0, cycle) -- a meter with an overflow is at its limit
    plan_account(plan, RESERVE_ACCOUNT[meter], to_reserve, MICROS_MAX, cycle)
    plan.contributed[index] = { meter, wagers, cents, to_meter, to_reserve, 0, cycle, '', '', 0 }
  end
  plans[every], plans_made[#plans_made + 1] = plan, plan
  return plan
end

-- Applies a plan if every balance has room for it. Returns whether the plan was applied.
local function follow_plan(plan, transfers, from)
  local accounts, micros, most, ends = plan.accounts, plan.micros, plan.most, plan.ends
  for index = 1, #accounts do
    if balances[accounts[index]] + micros[index] > most[index] then return false end
  end
  if not leaves(from, plan.leaving) then return false end
  local last = 0
  for index = 1, #accounts do
    if ends[index] then
      balances[accounts[index]] = balances[accounts[index]] + micros[index]
      transfers[last + 1], transfers[last + 2], transfers[last + 3] = last > 0 and ',["' or '[["', from, ends[index]
      last = last + 3
    end
  end
  balances[from] = balances[from] - plan.leaving
  plan.times = plan.times + 1
  return true
end

local function count_plans()
  for _, plan in ipairs(plans_made) do
    if plan.times > 0 then
      for _, added in ipairs(plan.every) do
        local meter, wagers, cents = unpack(added)
        touch_meter(meter)
        tally_meter('wagers:', meter, plan.times * wagers)
        tally_meter('wagered_cents:', meter, plan.times * cents)
      end
    end
  end
end

function APPLY.wagers(event, place)
  local table_id, seq = event[EVENT_TABLE], event[EVENT_SEQ]
  local at, round, work = tables[table_id], event[EVENT_ROUND], event[EVENT_WORK]
  local open, held = at[TABLE_ROUND], at[TABLE_HELD]
  if open ~= '' then return open == round and 'after_lockout' or 'round_open' end
  if at[TABLE_OVER] == round then return 'round_over' end
  if meters['closed'] then return 'link_closed' end
  if held ~= '' and not work[WAGERS_WORK_DESPITE_HOLD] then return 'held', held end
  local hidden = work[WAGERS_WORK_HIDDEN]
  if not is_as_decided(hidden) then return 'moved' end
  local hits = hits_of(hidden)
  if not hits_fit(hits) then return 'books_full' end
  local from, every = TABLE_ACCOUNT[table_id], contributions[work[WAGERS_WORK_CONTRIBUTIONS]]
  local transfers, plan = {}, plan_of(every)
  local contributed = plan.contributed
  if #hits > 0 or not follow_plan(plan, transfers, from) then
    if not can_contribute(from, every) then return 'meter_full' end
    contributed = {}
    note_drawn(hits, place)
    contribute(transfers, from, every, contributed, '', hidden)
  end
  local entry = note_event(event, from, place, ARGV[TEXTS_BEFORE + place], transfers, NONE)
  set_round(at, seq, round, entry, work[WAGERS_WORK_DRAW], contributed, 1)
  return nil, entry, #hits > 0 and open_hits(table_id, hits, entry) or NONE
end

-- Gives back what wagers added to a meter, above its limit and to its reserve. If the meter was won
-- after the wagers, or has less, the house pays the difference, so that no meter becomes negative. A
-- part of the overflow can be on the meter by now. So the overflow gives back first, then the meter:
-- while there is an overflow, the meter stays at its limit (duty D3). If the part above the limit
-- went to another meter, it comes back from there, in the same way: `passed_to` is this meter.
local function give_back(transfers, to, meter, wagers, cents, on_meter, reserved, over, cycle, passed_to, passed_cycle)
  local function take_back(micros, accounts, of, added_in)
    local same_cycle = added_in == cycle_of(of)
    for _, account in ipairs(accounts) do
      local off = same_cycle and math.min(micros, balance(account)) or 0
      transfer(transfers, account, to, off, added_in)
      micros = micros - off
    end
    transfer(transfers, 'house', to, micros, added_in)
  end
  if passed_to ~= '' then
    take_back(over, { OVERFLOW_ACCOUNT[passed_to], METER_ACCOUNT[passed_to] }, passed_to, passed_cycle)
    touch_meter(passed_to)
    over = 0
  end
  take_back(on_meter + over, { OVERFLOW_ACCOUNT[meter], METER_ACCOUNT[meter] }, meter, cycle)
  take_back(reserved, { RESERVE_ACCOUNT[meter] }, meter, cycle)
  touch_meter(meter)
  tally_meter('voided_wagers:', meter, wagers)
  tally_meter('voided_cents:', meter, cents)
end

-- 649a.13, reading T28: subtracts the contributions of a void round.
function APPLY.void(event, place)
  local table_id = event[EVENT_TABLE]
  local problem = round_problem(tables[table_id], event[EVENT_ROUND])
  if problem then return problem end
  local transfers, to, added_by_round = {}, TABLE_ACCOUNT[table_id], tables[table_id][TABLE_CONTRIBUTED]
  local house_bears = 0
  for _, added in ipairs(added_by_round) do
    house_bears = house_bears + added[CONTRIBUTED_METER_MICROS] + added[CONTRIBUTED_RESERVE_MICROS]
      + added[CONTRIBUTED_OVERFLOW_MICROS]
  end
  if not transfer_fits('house', to, house_bears) then return 'books_full' end
  local code, confirmed_by = confirmation(event)
  if code then return code, confirmed_by end
  for _, added in ipairs(added_by_round) do
    local meter, wagers, cents, on_meter, on_reserve, over, cycle, _, passed_to, passed_cycle = unpack(added)
    give_back(transfers, to, meter, wagers, cents, on_meter, on_reserve, over, cycle, passed_to, passed_cycle)
  end
  tally('voids', 1)
  local by = by_table(table_id, confirmed_by)
  local entry = note_event(event, by, place, ARGV[TEXTS_BEFORE + place], transfers, NONE)
  end_round(table_id, {})
  return nil, entry, NONE, confirmed_by
end

-- Returns the contributions of a round without one wager, and the contributions of this wager: for
-- each meter, the last arguments of `give_back`. A wager that a correction added has its own
-- contributions. Any other wager is among the wagers at lock-out, which all had the same rates: if
-- the meter has a threshold, these rates are the sums divided by the cents of the wagers, without a
-- remainder. Returns nil if the round lacks these contributions.
local function without_wager(contributed, wager, every)
  local rest, gone, own = {}, {}, ''
  for _, added in ipairs(contributed) do
    if added[CONTRIBUTED_WAGER] == wager then own = wager end
  end
  for _, added in ipairs(contributed) do
    local one
    for _, each in ipairs(every) do
      if each[ADDED_METER] == added[CONTRIBUTED_METER] and added[CONTRIBUTED_WAGER] == own then one = each end
    end
    if one then
      local meter, wagers, cents, on_meter, on_reserve, over, cycle, _, passed_to, passed_cycle = unpack(added)
      local pooled, reserved = one[ADDED_METER_MICROS], one[ADDED_RESERVE_MICROS]
      if one[ADDED_THRESHOLD_MICROS] > 0 then
        pooled = (on_meter + over) / cents * one[ADDED_WAGERED_CENTS]
        reserved = on_reserve / cents * one[ADDED_WAGERED_CENTS]
      end
      local off_over = math.min(pooled, over)
      gone[#gone + 1] = { meter, 1, one[ADDED_WAGERED_CENTS], pooled - off_over, reserved, off_over, cycle, passed_to, passed_cycle }
      wagers, cents = wagers - 1, cents - one[ADDED_WAGERED_CENTS]
      on_meter, on_reserve, over = on_meter - (pooled - off_over), on_reserve - reserved, over - off_over
      if math.min(wagers, cents, on_meter, on_reserve) < 0 then return nil end
      if wagers > 0 then
        rest[#rest + 1] = { meter, wagers, cents, on_meter, on_reserve, over, cycle, own, passed_to, passed_cycle }
      end
    else
      rest[#rest + 1] = added
    end
  end
  if #gone ~= #every then return nil end
  return rest, gone
end

-- Adds one wager to the open round, or takes one back, as a floorperson has confirmed. The draw of
-- the round stays. A wager that is taken back gives its contributions back, as in a void round. A
-- round without wagers is over.
function APPLY.correct_wager(event, place)
  local table_id, work = event[EVENT_TABLE], event[EVENT_WORK]
  local at = tables[table_id]
  local problem = round_problem(at, event[EVENT_ROUND])
  if problem then return problem end
  local adds, every = work[CORRECTION_WORK_ADDS], contributions[work[CORRECTION_WORK_CONTRIBUTIONS]]
  local account, wager = TABLE_ACCOUNT[table_id], work[CORRECTION_WORK_WAGER]
  local transfers, contributed, gone = {}, { unpack(at[TABLE_CONTRIBUTED]) }, nil
  local hidden = work[CORRECTION_WORK_HIDDEN]
  local hits = hits_of(hidden)
  if adds then
    if meters['closed'] then return 'link_closed' end
    if not hits_fit(hits) then return 'books_full' end
    if not can_contribute(account, every) then return 'meter_full' end
  else
    contributed, gone = without_wager(contributed, wager, every)
    if not gone then return 'other_meters' end
    local house_bears = 0
    for _, added in ipairs(every) do
      house_bears = house_bears + added[ADDED_METER_MICROS] + added[ADDED_RESERVE_MICROS]
    end
    if not transfer_fits('house', account, house_bears) then return 'books_full' end
  end
  local code, confirmed_by = confirmation(event)
  if code then return code, confirmed_by end
  -- Only an event that nothing else stops may answer this: the service then sends the win.
  if adds and not is_as_decided(hidden) then return 'moved' end
  if adds then
    note_drawn(hits, place)
    contribute(transfers, account, every, contributed, wager, hidden)
  else
    for _, one in ipairs(gone) do give_back(transfers, account, unpack(one)) end
  end
  local by = by_table(table_id, confirmed_by)
  local entry = note_event(event, by, place, ARGV[TEXTS_BEFORE + place], transfers, NONE)
  if #contributed == 0 then
    end_round(table_id, {})
  else
    if at[TABLE_ENTRY] == 0 then ended_rounds[#ended_rounds + 1] = table_id end
    set_round(at, event[EVENT_SEQ], at[TABLE_ROUND], entry, at[TABLE_DRAW], contributed, 0)
    drop_ask(table_id) -- a confirmation is for one correction
  end
  return nil, entry, #hits > 0 and open_hits(table_id, hits, entry) or NONE, confirmed_by
end

local BPS_OF_ALL = 10000 -- 100% in basis points

-- Subtracts one percentage of a meter, in the order of the result's wins (649a.12(e)(4), (h)(4),
-- (j)(4), reading T17). A percentage that continues another one of the same hand is of the balance
-- of the first, which `of_balance` has for each meter. After 100 %, the meter reseeds immediately
-- (reading T15), with its reserve if it has one (reading T21), and with its reseed amount. Then the
-- overflow, which patrons wagered, refills the meter. So the next win is paid from the reseeded and
-- refilled meter. Returns the cents of one share.
local function take_off(transfers, take, payees, of_balance)
  local meter, bps, shares = take[TAKE_METER], take[TAKE_PERCENT_BPS], take[TAKE_SHARES]
  local account, cycle, limit = METER_ACCOUNT[meter], cycle_of(meter), take[TAKE_LIMIT_MICROS]
  if not take[TAKE_CONTINUES] then of_balance[meter] = balance(account) end
  local held = of_balance[meter]
  local there, limit_there = take[TAKE_OVERFLOW_TO], take[TAKE_LIMIT_THERE_MICROS]
  -- Exact for every balance: whole cents times 10,000 are at most the micros of the balance.
  -- Divisions are made without a remainder, because a remainder could be rounded up.
  local rest = held % MICROS_PER_CENT
  local parts = (held - rest) / MICROS_PER_CENT * bps + math.floor(rest * bps / MICROS_PER_CENT)
  local pool = (parts - parts % BPS_OF_ALL) / BPS_OF_ALL
  local share = (pool - pool % shares) / shares
  for _, payee in ipairs(payees) do
    transfer(transfers, account, payee, share * MICROS_PER_CENT, cycle)
  end
  if take[TAKE_RESEEDS] then
    cycle, plans = cycle + 1, {}
    set_meter(CYCLE_FIELD[meter], cycle)
    if take[TAKE_FROM_RESERVE] then
      local reserve = RESERVE_ACCOUNT[meter]
      fill_meter(transfers, reserve, meter, balance(reserve), cycle, limit, there, limit_there)
    end
    fill_meter(transfers, 'house', meter, take[TAKE_RESEED_MICROS], cycle, limit, there, limit_there)
  end
  refill_meter(transfers, meter, cycle, limit)
  touch_meter(meter)
  return share
end

local function payee_of(due)
  if due[DUE_ENVY] ~= '' then return 'envy:' .. due[DUE_ENVY] end
  return due[DUE_CLAIM_KEY] > 0 and 'claim:' .. due[DUE_CLAIM] or 'paid'
end

-- Records that Envy Bonuses are owed for a hand. If a win of the hand waits for a floorperson, the
-- bonuses are pending until the win is decided. Otherwise they are validated now. Validated bonuses
-- stay owed until somebody confirms that the table has paid them, or rejects them.
local function owe_envy(envy, entry)
  local key, claim, meter = KEYS[envy[ENVY_CLAIM_KEY]], envy[ENVY_CLAIM], envy[ENVY_METER]
  local record = envy[ENVY_RECORD]
  if record == '' then
    claim_writes[#claim_writes + 1] = { 'HSET', key, 'envy', 'pending' }
    return
  end
  local after = math.floor(balance(METER_ACCOUNT[meter]) / MICROS_PER_CENT)
  claim_writes[#claim_writes + 1] = {
    'HSET', key, 'record', record, 'amount', '0', 'after', exact(after), 'state', 'validated',
    'entry', exact(entry), 'at', AT, 'envy', 'validated',
  }
  wait_for(claim, entry)
  index_win(meter, ':', entry, claim)
end

-- Checks that the numbers in the accounts `house` and `paid` do not become too large with a result.
-- What a hand wins of a meter counts with the largest possible amount: the reseed, and all money in
-- the meter's accounts.
local function result_fits(takes, dues)
  local micros = 0
  for _, take in ipairs(takes) do
    if take[TAKE_RESEEDS] then micros = micros + take[TAKE_RESEED_MICROS] end
    for _, kind in ipairs(take[TAKE_CONTINUES] and NONE or { 'meter:', 'reserve:', 'overflow:' }) do
      micros = micros + balance(kind .. take[TAKE_METER])
    end
    if take[TAKE_OVERFLOW_TO] ~= '' then
      micros = micros + balance(METER_ACCOUNT[take[TAKE_OVERFLOW_TO]]) + balance(OVERFLOW_ACCOUNT[take[TAKE_OVERFLOW_TO]])
    end
  end
  for _, due in ipairs(dues) do micros = micros + due[DUE_FIXED_CENTS] * MICROS_PER_CENT end
  return micros <= MICROS_MAX and transfer_fits('house', 'paid', micros)
end

-- The results of this call with dealt cards. `dealt_fields` has, in turn, the field of a result's
-- digest and the field of its place in the ring. `dealt_values` has the values of these fields, and
-- `dealt_answers` has the result's answer at the index of the digest.
local dealt_fields, dealt_values, dealt_answers = {}, {}, {}

-- Remembers the dealt cards of the results in a ring: new results replace old ones. If another
-- table reported the same cards under the same round id, the answer names this table and its ledger
-- entry.
local function remember_dealt()
  if #dealt_fields == 0 then return end
  local gone, written, known = {}, {}, {}
  local stored = redis.call('HMGET', DEALT, unpack(dealt_fields))
  for index = 1, #dealt_fields, 2 do
    local field, place, value = dealt_fields[index], dealt_fields[index + 1], dealt_values[index]
    local before, replaced = known[field] or stored[index], stored[index + 1]
    if before then
      if string.match(before, '^%S+') ~= string.match(value, '^%S+') then
        dealt_answers[index][ANSWER_ELSEWHERE] = before
      end
    else
      known[field] = value
      if replaced then gone[#gone + 1] = 'd:' .. replaced end
      local last = #written
      written[last + 1], written[last + 2] = field, value
      written[last + 3], written[last + 4] = place, dealt_values[index + 1]
    end
  end
  call_with('HDEL', DEALT, gone)
  call_with('HSET', DEALT, written)
end

local OF_HIDDEN, OF_LINK = 'hidden', 'link'

local has_every_table = false

local function read_every_table()
  if has_every_table then return end
  has_every_table = true
  local stored = redis.call('HGETALL', TABLES)
  for index = 1, #stored, 2 do
    local id = stored[index]
    tables[id] = tables[id] or array_of(cmsgpack.unpack_limit(stored[index + 1], TABLE_FIELDS, 1))
  end
end

local function feeds(at, meter)
  for _, added in ipairs(at[TABLE_CONTRIBUTED]) do
    if added[CONTRIBUTED_METER] == meter then return true end
  end
  return false
end

-- Checks whether the open rounds of the other tables that fed a meter are still those for which the
-- service has made the shares of a result.
local function are_open(table_id, step)
  read_every_table()
  local due = {}
  for _, round in ipairs(step[LINK_ROUNDS]) do due[round[OPEN_TABLE]] = round[OPEN_BASIS] end
  for id, at in pairs(tables) do
    if id ~= table_id and at[TABLE_ROUND] ~= '' and feeds(at, step[LINK_METER]) then
      if due[id] ~= at[TABLE_BASIS] then return false end
      due[id] = nil
    end
  end
  return next(due) == nil
end

function APPLY.result(event, place)
  local table_id, work = event[EVENT_TABLE], event[EVENT_WORK]
  local problem = round_problem(tables[table_id], event[EVENT_ROUND])
  if problem then return problem end
  for _, step in ipairs(work[RESULT_WORK_LINK]) do
    if not are_open(table_id, step) then return 'moved', OF_LINK end
  end
  local takes, dues = work[RESULT_WORK_TAKES], work[RESULT_WORK_DUES]
  if not result_fits(takes, dues) then return 'books_full' end
  local code, confirmed_by = confirmation(event)
  if code then return code, confirmed_by end
  local transfers, payees, shares, paid, claims = {}, {}, {}, {}, {}
  local paid_cents, after_cents, of_balance = {}, {}, {}
  -- All percentages of a meter that one hand wins have the same balance after them: that after the
  -- hand's last percentage, with the reseed if they are the whole meter. So a rejected one comes
  -- back from what is above this balance. `firsts` has for each percentage the hand's first one,
  -- and `left_cents` has the balance for each first one that another continues.
  local firsts, first_of, left_cents = {}, {}, {}
  for index, take in ipairs(takes) do
    payees[index] = {}
    if not take[TAKE_CONTINUES] then first_of[take[TAKE_METER]] = index end
    firsts[index] = first_of[take[TAKE_METER]]
  end
  for _, due in ipairs(dues) do
    local take = due[DUE_TAKE]
    if take > 0 then table.insert(payees[take], payee_of(due)) end
  end
  for index, due in ipairs(dues) do
    local take, meter, cents = due[DUE_TAKE], due[DUE_METER], due[DUE_FIXED_CENTS]
    if take > 0 then
      if not shares[take] then shares[take] = take_off(transfers, takes[take], payees[take], of_balance) end
      cents = shares[take]
    else
      transfer(transfers, 'house', payee_of(due), cents * MICROS_PER_CENT, meter ~= '' and cycle_of(meter) or 0)
    end
    paid_cents[index] = cents
    after_cents[index] = meter ~= '' and math.floor(balance(METER_ACCOUNT[meter]) / MICROS_PER_CENT) or 0
    if take > 0 and takes[take][TAKE_CONTINUES] then left_cents[firsts[take]] = after_cents[index] end
    tally('wins', 1)
    tally('won_cents', cents)
    if meter ~= '' then
      tally_meter('wins:', meter, 1)
      tally_meter('won_cents:', meter, cents)
      if take > 0 then tally_meter('hits:', meter, 1) end
      if due[DUE_ENVY] ~= '' then
        tally_meter('envy_owed_cents:', meter, cents)
      elseif due[DUE_CLAIM_KEY] == 0 then
        tally_meter('table_paid_cents:', meter, cents)
      end
    end
  end
  tally('rounds', 1)
  local texts, parts = ARGV[TEXTS_BEFORE + place], work[RESULT_WORK_GAPS]
  if #parts > 0 then
    for index, part in ipairs(parts) do
      if type(part) == 'number' then parts[index] = exact(paid_cents[part]) end
    end
    texts = texts .. chained('5:reply', table.concat(parts))
  end
  local by = by_table(table_id, confirmed_by)
  local entry = note_event(event, by, place, texts, transfers, paid_cents)
  for index, due in ipairs(dues) do
    local cents, after = paid_cents[index], left_cents[firsts[due[DUE_TAKE]]] or after_cents[index]
    if due[DUE_CLAIM_KEY] > 0 then
      open_claim(due, entry, cents, after)
      if due[DUE_HOLDS] ~= '' then hold_table(table_id, due, cents) end
      if not due[DUE_ELSEWHERE] then claims[#claims + 1] = due[DUE_CLAIM] end
    end
    paid[index] = { cents, after, entry }
  end
  for _, envy in ipairs(work[RESULT_WORK_ENVY]) do
    owe_envy(envy, entry)
    if envy[ENVY_RECORD] ~= '' then claims[#claims + 1] = envy[ENVY_CLAIM] end
  end
  end_round(table_id, claims)
  return nil, entry, paid, confirmed_by
end

-- The tables with an event that the service must judge again, before their later events.
local held_back = {}

-- `place` is the place of the event in the call.
local function answer(event, place)
  if held_back[event[EVENT_TABLE]] then return { 'moved', held_back[event[EVENT_TABLE]] } end
  local table_id, seq, digest = event[EVENT_TABLE], event[EVENT_SEQ], event[EVENT_DIGEST]
  local kind, basis, work = event[EVENT_KIND], event[EVENT_BASIS], event[EVENT_WORK]
  local at = tables[table_id]
  if seq <= at[TABLE_LAST] then
    local kept = kept_reply(table_id, seq)
    if not kept then return { 'seq_passed' } end
    if string.sub(kept, 1, #digest) ~= digest then return { 'seq_reused' } end
    local reply = string.sub(kept, #digest + 1)
    local entry = string.match(reply, '^#(%d+)$')
    if entry then return { 'again', '', false, tonumber(entry) } end
    return { 'again', reply }
  end
  if seq > at[TABLE_LAST] + 1 then return { 'gap', exact(at[TABLE_LAST] + 1) } end
  if basis and basis ~= at[TABLE_BASIS] then return { 'moved' } end
  local known = event[EVENT_KNOWN]
  if known and event[EVENT_ROUND] == at[TABLE_ROUND] and known ~= at[TABLE_KNOWN] then return { 'moved' } end
  if kind == 'refused' then
    -- A restore repeats the refusal of a correction whose request Redis lost.
    local ask = event[EVENT_ASK]
    if ask and event[EVENT_ROUND] == at[TABLE_ROUND] then at[TABLE_KNOWN] = ask[ASK_KNOWN] end
    end_request(event)
    keep_reply(table_id, seq, digest, '', work[REPLY_WORK_REPLY])
    return { 'refused', work[REPLY_WORK_REPLY] }
  end
  if kind == 'withdrawal' then
    drop_ask(table_id)
    keep_reply(table_id, seq, digest, '', work[REPLY_WORK_REPLY])
    return { 'withdrawn', work[REPLY_WORK_REPLY] }
  end
  local code, given, paid, confirmed_by = APPLY[kind](event, place)
  if code == 'moved' then
    held_back[table_id] = given or OF_HIDDEN
    return { 'moved', held_back[table_id] }
  end
  if not code then
    local entry, dealt = given, kind == 'result' and work[RESULT_WORK_DEALT] or ''
    local accepted = { 'accepted', '', false, entry, paid }
    if confirmed_by then accepted[ANSWER_ELSEWHERE], accepted[ANSWER_CONFIRMED_BY] = '', confirmed_by end
    keep_reply(table_id, seq, digest, '#', EXACT[entry])
    if dealt ~= '' then
      local last = #dealt_fields
      dealt_fields[last + 1], dealt_fields[last + 2] = 'd:' .. dealt, 's:' .. exact(entry % DEALT_KEPT)
      dealt_values[last + 1], dealt_values[last + 2] = table_id .. ' ' .. EXACT[entry], dealt
      dealt_answers[last + 1] = accepted
    end
    return accepted
  end
  local refusal
  if code == 'correction_refused' then
    refusal = '{"seq":' .. exact(seq) .. given
  else
    refusal = refused_here(code, seq, code == 'held' and given)
    if code ~= 'unconfirmed' then end_request(event) end
  end
  keep_reply(table_id, seq, digest, '', refusal)
  return { code, refusal, code == 'unconfirmed' and given == '1' }
end

local answers = {}
for index, event in ipairs(events) do
  answers[index] = answer(event, places[index])
end

count_plans()
local hidden_states = {}
for index, meter in ipairs(hidden_meters) do
  hidden_states[index] = {
    meter, balance(METER_ACCOUNT[meter]), balance(RESERVE_ACCOUNT[meter]), cycle_of(meter), meters['hidden:' .. meter] or '',
  }
end
local output = { true, last_entry, chain, is_head_in_ledger(), answers, hidden_states }
write_books(TEXTS)
write_tables()
remember_dealt()
for field, sealed in pairs(hidden_writes) do redis.call('HSET', METERS, field, sealed) end
call_with('HDEL', ROUNDS, ended_rounds)
call_with('HSET', REPLIES, reply_fields)
repeat_claims(opened_claims)
for _, write in ipairs(claim_writes) do redis.call(unpack(write)) end
call_with('ZADD', WAITING, waits)
call_with('ZADD', WINS, wins)
for _, write in ipairs(ask_writes) do redis.call(unpack(write)) end
return cmsgpack.pack(output)
