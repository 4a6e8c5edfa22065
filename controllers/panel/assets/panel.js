"use strict";
/* Last of the page's scripts: everything is in place, so it begins. */
panel.start();
