/** Number formats in the notation of Excel (`core/sheet/src/cell/number_format/mod.rs`). */

import { isOnlyNegative, matches, type Condition } from "./condition";
import { DateLayout } from "./date-layout";
import { FractionLayout, findSlash } from "./fraction-layout";
import { generalText } from "./general";
import { MAX_SECTIONS, splitSections } from "./lexer";
import { NumberLayout } from "./number-layout";
import { InvalidFormat, plainCharacter, type Token } from "./token";

const MAX_FORMAT_BYTES = 255;
const MAX_TEXT_PLACEHOLDERS = 4;

/** Text around a value that is displayed without formatting. */
class PlainLayout {
  readonly #pieces: (string | null)[];

  constructor(tokens: readonly Token[]) {
    this.#pieces = tokens.map((token) => {
      if (token.kind === "general" || token.kind === "text") return null;
      const text = token.kind === "point" ? "." : plainCharacter(token);
      if (text === undefined) throw new InvalidFormat(`${token.kind} cannot be with text`);
      return text;
    });
    if (this.#pieces.filter((piece) => piece === null).length > MAX_TEXT_PLACEHOLDERS) {
      throw new InvalidFormat("a section can contain @ at most 4 times");
    }
  }

  render(value: string): string {
    return this.#pieces.map((piece) => piece ?? value).join("");
  }
}

interface Section {
  condition?: Condition;
  layout: NumberLayout | FractionLayout | DateLayout | PlainLayout;
}

function sectionOf(all: readonly Token[]): Section {
  const conditions = all.flatMap((token) => (token.kind === "condition" ? [token.condition] : []));
  if (conditions.length > 1) throw new InvalidFormat("the section has a second condition");
  const tokens = all.filter((token) => token.kind !== "condition");
  const [condition] = conditions;
  const layout = layoutOf(tokens);
  return condition === undefined ? { layout } : { condition, layout };
}

function layoutOf(tokens: readonly Token[]): Section["layout"] {
  if (tokens.some((token) => token.kind === "date")) return new DateLayout(tokens);
  if (!tokens.some((token) => token.kind === "placeholder")) return new PlainLayout(tokens);
  const slash = findSlash(tokens);
  return slash < 0 ? new NumberLayout(tokens) : new FractionLayout(tokens, slash);
}

/** The condition of a section without one, if not all numbers match. */
function impliedCondition(index: number, count: number): Condition | undefined {
  if (index === 0 && count === 2) return { operator: ">=", operand: 0 };
  if (index === 0 && count === 3) return { operator: ">", operand: 0 };
  if (index === 1 && count === 3) return { operator: "<", operand: 0 };
  return undefined;
}

export class NumberFormat {
  /** At most three. None if there is only a section for text. */
  readonly #numbers: Section[];
  readonly #text: PlainLayout | null;

  private constructor(numbers: Section[], text: PlainLayout | null) {
    this.#numbers = numbers;
    this.#text = text;
  }

  /** Returns undefined if the code is not a number format. */
  static parse(code: string): NumberFormat | undefined {
    if (code === "" || new TextEncoder().encode(code).length > MAX_FORMAT_BYTES) return undefined;
    try {
      const sections = splitSections(code);
      const isTextLast = sections.at(-1)?.some((token) => token.kind === "text") === true;
      const text = sections.length === MAX_SECTIONS || isTextLast ? sections.pop() : undefined;
      const layout = text === undefined ? null : new PlainLayout(text);
      return new NumberFormat(sections.map(sectionOf), layout);
    } catch (error) {
      if (error instanceof InvalidFormat) return undefined;
      throw error;
    }
  }

  /** A number that the format cannot display, such as a negative date, is displayed as `General`. */
  display(number: number): string {
    return this.#tryDisplay(number) ?? generalText(number);
  }

  displayText(text: string): string {
    return this.#text === null ? text : this.#text.render(text);
  }

  #tryDisplay(number: number): string | undefined {
    if (this.#numbers.length === 0) return generalText(number);
    const found = this.#findSection(number);
    if (found === undefined) return undefined;
    const { layout } = found.section;
    const isDate = layout instanceof DateLayout;
    if (isDate && number < 0 && found.showsSign) return undefined;
    const rendered = render(layout, Math.abs(number));
    if (rendered === undefined) return undefined;
    const isNegativeZero = Object.is(number, -0) && !isDate;
    const hasSign = (number < 0 && !rendered.isZero) || isNegativeZero;
    return hasSign && found.showsSign ? `-${rendered.text}` : rendered.text;
  }

  #findSection(number: number): { section: Section; showsSign: boolean } | undefined {
    const count = this.#numbers.length;
    const hasConditions = this.#numbers.some((section) => section.condition !== undefined);
    const section = this.#numbers.find(({ condition }, index) => {
      const effective = condition ?? impliedCondition(index, count);
      return effective === undefined || matches(effective, number);
    });
    if (section === undefined) return undefined;
    const { condition } = section;
    const showsSign = condition === undefined ? hasConditions || count === 1 : !isOnlyNegative(condition);
    return { section, showsSign };
  }
}

function render(layout: Section["layout"], magnitude: number): { text: string; isZero: boolean } | undefined {
  if (layout instanceof NumberLayout) return layout.render(magnitude);
  if (layout instanceof FractionLayout) return { text: layout.render(magnitude), isZero: false };
  if (layout instanceof PlainLayout) return { text: layout.render(generalText(magnitude)), isZero: false };
  const text = layout.render(magnitude);
  return text === undefined ? undefined : { text, isZero: false };
}
