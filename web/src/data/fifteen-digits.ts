const DECIMALS = 14;
/** Enough places to see whether a number is exactly between two others. */
const EXACT_DECIMALS = 40;

/**
 * Returns 15 significant digits in exponential notation. The server rounds exact ties to an even
 * digit, where `toExponential` rounds them up.
 */
export function fifteenDigits(magnitude: number): string {
  const exact = magnitude.toExponential(EXACT_DECIMALS);
  const exponentAt = exact.indexOf("e");
  const kept = exact.slice(0, DECIMALS + 2);
  const isTie = /^50*$/.test(exact.slice(DECIMALS + 2, exponentAt));
  const isEven = "02468".includes(kept.at(-1) ?? "0");
  return isTie && isEven ? kept + exact.slice(exponentAt) : magnitude.toExponential(DECIMALS);
}
