import "../lib/grid.js";
import { openSheet } from "../lib/data.js";

// Open plain.html#spreadsheet=ID&token=TOKEN. Browsers do not send the part from # on to servers.
const options = new URLSearchParams(location.hash.slice(1));
document.querySelector("cellar-grid").source = await openSheet({
  url: location.origin,
  spreadsheet: options.get("spreadsheet"),
  getToken: () => options.get("token"),
});
