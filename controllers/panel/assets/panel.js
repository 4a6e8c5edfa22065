/* The panel of one table: it shows each view that the table's agent sends. */

import { start } from "./panel_connection.js";
import { drawDesk } from "./panel_desk.js";
import { drawOwed } from "./panel_settled.js";
import { drawTable } from "./panel_table.js";

start([drawTable, drawOwed, drawDesk]);
