/* A proposed change of a meter, or a floor file that waits for approval, in its pane. */

import * as changes from "./floor_changes.js";
import * as format from "./floor_format.js";
import { Pane, Waited } from "./floor_panes.js";
import { hrefOf } from "./floor_route.js";
import { html } from "./preact.js";
import { say } from "./say.js";

const Proposal = ({ link, proposal, done, back }) => html`
  <${Pane} kind="change" of=${{ "data-proposal": proposal.proposal }} back=${back}
    acts=${html`<${changes.ProposalActs} link=${link} proposal=${proposal} done=${done} />`}>
    <div class="win-title">
      <div>
        <h2 tabindex="-1">${link.name} <span>${say("· proposal {proposal}", proposal)}</span></h2>
        <p class="hand-name">${changes.describe(link, proposal)}</p>
        <p>${say("Proposed by {by}, {time}: {reason}",
          { by: proposal.by, time: format.moment(proposal.at), reason: format.sentence(proposal.reason) })}</p>
      </div>
      <p class="tags"><${Waited} at=${proposal.at} isTold /></p>
    </div>
    <${changes.Adjusts} link=${link} proposal=${proposal} />
  <//>`;

const File = ({ link, back }) => html`
  <${Pane} kind="change" back=${back} acts=${html`
    <div class="acts"><a class="button" href=${hrefOf("meters")}>${say("Look at it under Meters")}</a></div>`}>
    <div class="win-title"><div>
      <h2 tabindex="-1">${link.name}</h2>
      <p class="hand-name">${say("The floor file waits for approval")}</p>
    </div></div>
    <ul class="terms">${link.unapproved.changed.map((one) => html`<li>${format.capital(one)}</li>`)}</ul>
    <${changes.Approvals} unapproved=${link.unapproved} />
  <//>`;

export const Change = ({ row: { link, proposal }, ...rest }) => (proposal
  ? html`<${Proposal} link=${link} proposal=${proposal} ...${rest} />`
  : html`<${File} link=${link} ...${rest} />`);
