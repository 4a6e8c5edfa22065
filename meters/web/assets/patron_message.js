/* The message for a service that is down, which the service worker keeps (patron_worker.js). The page
   that the display wants comes back as soon as the service has it. */

import { reload } from "./requests.js";

reload();
