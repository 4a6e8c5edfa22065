/* The panel of one table: draws each view that comes from the table's agent. */

import { start } from "./panel_connection.js";
import { drawDesk } from "./panel_desk.js";
import { drawOwed } from "./panel_settled.js";
import { drawTable } from "./panel_table.js";

start([drawTable, drawOwed, drawDesk]);
