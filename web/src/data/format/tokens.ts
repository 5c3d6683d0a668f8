/** Splits the code of a number format into tokens. The twin of `number_format/lexer.rs`. */

export type Token =
  | { kind: "literal" | "digit" | "placeholder"; text: string }
  | { kind: "point" | "comma" | "slash" | "percent" | "general" | "text" }
  | { kind: "exponent"; hasPlus: boolean }
  | { kind: "date"; unit: string; width: number; elapsed?: boolean }
  | { kind: "condition"; operator: string; operand: number };

const SIMPLE: Readonly<Record<string, "point" | "comma" | "slash" | "percent" | "text">> = {
  ".": "point",
  ",": "comma",
  "/": "slash",
  "%": "percent",
  "@": "text",
};
const MAX_SECTIONS = 4;
const COLOR = /^(?:black|blue|cyan|green|magenta|red|white|yellow|color *(?:[1-9]|[1-4]\d|5[0-6]))$/i;
const CONDITION = /^(<=|>=|<>|<|>|=) *([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?) *$/i;
/** Each alternative is one token; what none of them matches is not a format. */
const TOKEN =
  /(general)|(am\/pm|a\/p)|([0?#])|([1-9])|([.,/%@])|(;)|"([^"]*)"|\\(.)|_(.)|\*(.)|\[([^\]]*)\]|e([+-])|(y+|m+|d+|h+|s+|e+)|([a-z])|([^"\\_*[\]\p{Cc}])/giuy;

/** Returns the sections, or undefined if the code is not a number format. */
export function sectionsOf(code: string): Token[][] | undefined {
  const sections: Token[][] = [[]];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < code.length) {
    const first = TOKEN.lastIndex;
    const match = TOKEN.exec(code);
    if (match === null) return undefined;
    if (match[6] !== undefined) {
      sections.push([]);
      continue;
    }
    const tokens = tokensOf(match, code.slice(0, first), code.slice(TOKEN.lastIndex));
    if (tokens === undefined) return undefined;
    sections[sections.length - 1]?.push(...tokens);
  }
  return sections.length > MAX_SECTIONS ? undefined : sections;
}

function tokensOf(match: RegExpExecArray, before: string, after: string): Token[] | undefined {
  const [all, general, amPm, placeholder, digit, simple, , quoted, escaped, space, fill, brackets, sign, unit, letter] = match;
  if (general !== undefined) return [{ kind: "general" }];
  if (amPm !== undefined) return [{ kind: "date", unit: amPm.length > 3 ? "AM/PM" : amPm, width: 1 }];
  if (placeholder !== undefined) return [{ kind: "placeholder", text: placeholder }];
  if (digit !== undefined) return [{ kind: "digit", text: digit }];
  if (simple !== undefined) return [{ kind: SIMPLE[simple] ?? "text" }];
  if (quoted !== undefined) return literals(quoted);
  if (escaped !== undefined) return literals(escaped);
  if (space !== undefined) return literals(" ");
  if (fill !== undefined) return [];
  if (brackets !== undefined) return bracketsOf(brackets);
  if (sign !== undefined) return [{ kind: "exponent", hasPlus: sign === "+" }];
  // The only era that is displayed is the common one.
  if (unit !== undefined) return [dateUnit(/^e/i.test(unit) ? "yyyy" : unit)];
  return letter === undefined || isText(letter, before, after) ? literals(letter ?? all) : undefined;
}

function literals(text: string): Token[] {
  return [...text].map((character) => ({ kind: "literal", text: character }));
}

function dateUnit(text: string, elapsed = false): Token {
  const unit = (text[0] ?? "").toLowerCase();
  return { kind: "date", unit, width: text.length, ...(elapsed ? { elapsed } : {}) };
}

/** A letter without a meaning is text if it is alone, or a T beside a date. */
function isText(letter: string, before: string, after: string): boolean {
  const isFree = (neighbor: string) =>
    !/[a-z]/i.test(neighbor) || (letter === "T" && /[ymdhs]/i.test(neighbor));
  return !/[bgn]/i.test(letter) && isFree(before.slice(-1)) && isFree(after.slice(0, 1));
}

function bracketsOf(content: string): Token[] | undefined {
  // The language of `[$€-407]` is ignored.
  if (content.startsWith("$")) return literals(content.slice(1).split("-")[0] ?? "");
  if (/^(?:h+|m+|s+)$/i.test(content)) return [dateUnit(content, true)];
  const condition = CONDITION.exec(content);
  if (condition !== null) {
    return [{ kind: "condition", operator: condition[1] ?? "", operand: Number(condition[2]) }];
  }
  return COLOR.test(content) ? [] : undefined;
}
