/** Decimal places of a number that is shown without a format. */
const MAX_DECIMAL_PLACES = 10;
const MAX_EXPONENT_PLACES = 5;

/**
 * Returns the number with as many decimal places as fit, or in exponential notation if its integer
 * part does not fit. Returns undefined if that does not fit either.
 */
export function roundedToFit(value: number, fits: (text: string) => boolean): string | undefined {
  if (Number.isInteger(value) || Math.abs(value) >= 1) {
    for (let places = Number.isInteger(value) ? 0 : MAX_DECIMAL_PLACES; places >= 0; places--) {
      const text = withoutTrailingZeros(value.toFixed(places));
      // For numbers from 10^21 on, `toFixed` returns exponential notation with all digits.
      if (!text.includes("e") && fits(text)) return text;
    }
  }
  return fittingFraction(value, fits) ?? fittingExponent(value, fits);
}

/** Rounds a number between -1 and 1, unless nothing but zeros would be left. */
function fittingFraction(value: number, fits: (text: string) => boolean): string | undefined {
  if (Math.abs(value) >= 1) return undefined;
  for (let places = MAX_DECIMAL_PLACES; places > 0; places--) {
    const text = withoutTrailingZeros(value.toFixed(places));
    if (Number(text) === 0) return undefined;
    if (fits(text)) return text;
  }
  return undefined;
}

function fittingExponent(value: number, fits: (text: string) => boolean): string | undefined {
  for (let places = MAX_EXPONENT_PLACES; places >= 0; places--) {
    const [digits, exponent] = value.toExponential(places).split("e");
    const text = `${withoutTrailingZeros(digits!)}E${exponent}`;
    if (fits(text)) return text;
  }
  return undefined;
}

function withoutTrailingZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
