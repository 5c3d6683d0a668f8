/** Displays numbers and texts by number formats. The twin of `core/sheet/src/cell/number_format`. */

import { dateLayout, dateText, type DateLayout } from "./date";
import { fractionLayout, fractionText, slashOf, type FractionLayout } from "./fraction";
import { numberLayout, numberText, type NumberLayout } from "./number";
import { sectionsOf, type Token } from "./tokens";

const MAX_FORMAT_BYTES = 255;
const MAX_TEXT_PLACEHOLDERS = 4;
/** Formats that were parsed, and those that are none. */
const MAX_PARSED = 200;

interface Condition {
  operator: string;
  operand: number;
}

/** Texts between which the value itself is displayed. */
type PlainLayout = string[];

interface Section {
  condition?: Condition;
  number?: NumberLayout;
  fraction?: FractionLayout;
  date?: DateLayout;
  plain?: PlainLayout;
}

interface NumberFormat {
  numbers: Section[];
  text?: PlainLayout | undefined;
}

const parsed = new Map<string, NumberFormat | undefined>();

/** Returns the displayed text, or undefined if the format cannot display the value. */
export function formatted(value: number | string, code: string, general: (number: number) => string): string | undefined {
  if (!parsed.has(code)) {
    if (parsed.size >= MAX_PARSED) parsed.clear();
    parsed.set(code, parse(code));
  }
  const format = parsed.get(code);
  if (format === undefined) return undefined;
  if (typeof value === "string") return format.text?.join(value);
  return format.numbers.length === 0 ? general(value) : displayed(format.numbers, value, general);
}

function parse(code: string): NumberFormat | undefined {
  if (code === "" || new TextEncoder().encode(code).length > MAX_FORMAT_BYTES) return undefined;
  const sections = sectionsOf(code);
  if (sections === undefined) return undefined;
  const last = sections[sections.length - 1] ?? [];
  const hasText = sections.length === 4 || last.some(({ kind }) => kind === "text");
  const text = hasText ? plainLayout(sections.pop() ?? []) : undefined;
  if (hasText && text === undefined) return undefined;
  const numbers: Section[] = [];
  for (const tokens of sections) {
    const section = sectionOf(tokens);
    if (section === undefined) return undefined;
    numbers.push(section);
  }
  return { numbers, text };
}

function sectionOf(all: readonly Token[]): Section | undefined {
  const [condition, second] = all.filter((token) => token.kind === "condition");
  if (second !== undefined) return undefined;
  const tokens = all.filter((token) => token.kind !== "condition");
  const layout = layoutOf(tokens);
  return layout && (condition === undefined ? layout : { ...layout, condition });
}

function layoutOf(tokens: readonly Token[]): Section | undefined {
  const has = (kind: Token["kind"]) => tokens.some((token) => token.kind === kind);
  if (has("date")) {
    const date = dateLayout(tokens);
    return date && { date };
  }
  if (!has("placeholder")) {
    const plain = plainLayout(tokens);
    return plain && { plain };
  }
  if (slashOf(tokens) !== undefined) {
    const fraction = fractionLayout(tokens);
    return fraction && { fraction };
  }
  const number = numberLayout(tokens);
  return number && { number };
}

function plainLayout(tokens: readonly Token[]): PlainLayout | undefined {
  const layout: PlainLayout = [""];
  const signs: Partial<Record<Token["kind"], string>> = { point: ".", comma: ",", slash: "/", percent: "%" };
  for (const token of tokens) {
    if (token.kind === "general" || token.kind === "text") {
      layout.push("");
      continue;
    }
    const text = token.kind === "literal" || token.kind === "digit" ? token.text : signs[token.kind];
    if (text === undefined) return undefined;
    layout[layout.length - 1] += text;
  }
  return layout.length > MAX_TEXT_PLACEHOLDERS + 1 ? undefined : layout;
}

function displayed(sections: readonly Section[], number: number, general: (number: number) => string): string | undefined {
  const found = findSection(sections, number);
  if (found === undefined) return undefined;
  const { section, hasSign } = found;
  if (section.date !== undefined) return number < 0 && hasSign ? undefined : dateText(section.date, Math.abs(number));
  const { text, isZero } = magnitudeText(section, Math.abs(number), general);
  // A cell displays a negative zero as it was typed.
  const isNegative = (number < 0 && !isZero) || Object.is(number, -0);
  return isNegative && hasSign ? `-${text}` : text;
}

function magnitudeText({ number, fraction, plain }: Section, magnitude: number, general: (number: number) => string) {
  if (number !== undefined) return numberText(number, magnitude);
  if (fraction !== undefined) return { text: fractionText(fraction, magnitude), isZero: false };
  return { text: plain?.join(general(magnitude)) ?? "", isZero: false };
}

/** Returns the section for a number, and whether a negative sign is displayed. */
function findSection(sections: readonly Section[], number: number): { section: Section; hasSign: boolean } | undefined {
  const count = sections.length;
  const hasConditions = sections.some(({ condition }) => condition !== undefined);
  const index = sections.findIndex(({ condition }, at) => {
    const applied = condition ?? impliedCondition(at, count);
    return applied === undefined || matches(applied, number);
  });
  const section = sections[index];
  if (section === undefined) return undefined;
  const { condition } = section;
  return { section, hasSign: condition === undefined ? hasConditions || count === 1 : !isOnlyNegative(condition) };
}

function impliedCondition(index: number, count: number): Condition | undefined {
  const operators: Record<string, string> = { "0/2": ">=", "0/3": ">", "1/3": "<" };
  const operator = operators[`${index}/${count}`];
  return operator === undefined ? undefined : { operator, operand: 0 };
}

function matches({ operator, operand }: Condition, number: number): boolean {
  switch (operator) {
    case "<":
      return number < operand;
    case "<=":
      return number <= operand;
    case "=":
      return number === operand;
    case "<>":
      return number !== operand;
    case ">=":
      return number >= operand;
    default:
      return number > operand;
  }
}

function isOnlyNegative({ operator, operand }: Condition): boolean {
  if (operator === "<") return operand <= 0;
  return (operator === "<=" || operator === "=") && operand < 0;
}
