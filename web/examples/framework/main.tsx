import { render } from "preact";
import { useState } from "preact/hooks";
import { Sheet } from "./sheet";

/** Open framework.html#spreadsheet=ID&token=TOKEN. */
function Application() {
  const [isShown, setShown] = useState(true);
  const options = new URLSearchParams(location.hash.slice(1));
  const [spreadsheet, token] = [options.get("spreadsheet"), options.get("token")];
  if (spreadsheet === null || token === null) return <p>The address has no spreadsheet and token.</p>;
  return (
    <>
      <button type="button" onClick={() => setShown(!isShown)}>{isShown ? "Close" : "Open"}</button>
      {isShown && <Sheet url={location.origin} spreadsheet={spreadsheet} token={token} />}
    </>
  );
}

render(<Application />, document.body);
