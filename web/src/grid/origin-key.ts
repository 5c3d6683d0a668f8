const NAME = "cellar-clipboard";
let key = "";

/**
 * Returns a random text that all tabs of this origin know. It marks copied formulas: without it, any page could put
 * formulas under a harmless text on the clipboard.
 */
export function originKey(): string {
  key ||= storedKey() ?? randomKey();
  return key;
}

function storedKey(): string | null {
  try {
    if (localStorage.getItem(NAME) === null) localStorage.setItem(NAME, randomKey());
    return localStorage.getItem(NAME);
  } catch {
    // Storage may be forbidden. Formulas are then copied inside this tab only.
    return null;
  }
}

function randomKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}
