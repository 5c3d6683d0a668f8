/** Splits number format codes into sections of tokens (`core/sheet/src/cell/number_format/lexer.rs`). */

import { parseCondition } from "./condition";
import { InvalidFormat, type DateUnit, type DateUnitName, type Token } from "./token";

export const MAX_SECTIONS = 4;
const COLORS = ["black", "blue", "cyan", "green", "magenta", "red", "white", "yellow"];
const DATE_LETTERS = "ymdhse";
const UNIT_OF_LETTER: Record<string, DateUnitName> = { y: "year", m: "month", d: "day", h: "hour", s: "second" };
const ELAPSED: Record<string, DateUnitName> = { h: "elapsedHours", m: "elapsedMinutes", s: "elapsedSeconds" };

/** Colors and languages are omitted, because they are not displayed. */
export function splitSections(code: string): Token[][] {
  const lexer = new Lexer(code);
  return lexer.sections();
}

class Lexer {
  /** Characters, not code units. */
  readonly #characters: string[];
  #next = 0;
  readonly #finished: Token[][] = [];
  #section: Token[] = [];

  constructor(code: string) {
    this.#characters = [...code];
  }

  sections(): Token[][] {
    while (this.#next < this.#characters.length) this.#readToken();
    this.#finished.push(this.#section);
    return this.#finished;
  }

  #readToken(): void {
    const keyword = this.#readKeyword();
    if (keyword !== undefined) {
      this.#section.push(keyword);
      return;
    }
    const before = this.#characters[this.#next - 1];
    const character = this.#read("");
    const simple = simpleToken(character);
    if (simple !== undefined) this.#section.push(simple);
    else if (character === ";") this.#finishSection();
    else if (character === '"') this.#readQuotedText();
    else if (character === "\\") this.#pushLiteral(this.#read(character));
    else if (character === "_") {
      this.#read(character);
      this.#pushLiteral(" ");
    } else if (character === "*") this.#read(character);
    else if (character === "[") this.#readBrackets();
    else this.#readOther(before, character);
  }

  #readOther(before: string | undefined, character: string): void {
    const after = this.#characters[this.#next];
    if (/[eE]/.test(character) && (after === "+" || after === "-")) {
      this.#next += 1;
      this.#section.push({ kind: "exponent", showsPlus: after === "+" });
    } else if (/[a-zA-Z]/.test(character)) this.#readLetter(before, character);
    // eslint-disable-next-line no-control-regex
    else if (character === "]" || /[\u0000-\u001f\u007f-\u009f]/.test(character)) {
      throw new InvalidFormat(`${character} cannot be used here`);
    } else this.#pushLiteral(character);
  }

  #pushLiteral(text: string): void {
    this.#section.push({ kind: "literal", text });
  }

  #read(after: string): string {
    const character = this.#characters[this.#next];
    if (character === undefined) throw new InvalidFormat(`a character must follow ${after}`);
    this.#next += 1;
    return character;
  }

  #readKeyword(): Token | undefined {
    if (this.#readWord("General") !== undefined) return { kind: "general" };
    if (this.#readWord("AM/PM") !== undefined) return { kind: "date", unit: { name: "amPm", width: 1 } };
    const word = this.#readWord("A/P");
    if (word === undefined) return undefined;
    return { kind: "date", unit: { name: "letterAmPm", width: 1, letters: [word[0] ?? "A", word[2] ?? "P"] } };
  }

  /** Reads `word` in any case, and returns it as it is in the code. */
  #readWord(word: string): string | undefined {
    const found = this.#characters.slice(this.#next, this.#next + word.length).join("");
    if (found.toLowerCase() !== word.toLowerCase() || found.length !== word.length) return undefined;
    this.#next += word.length;
    return found;
  }

  #finishSection(): void {
    this.#finished.push(this.#section);
    this.#section = [];
    if (this.#finished.length === MAX_SECTIONS) throw new InvalidFormat("the format has more than 4 sections");
  }

  #readQuotedText(): void {
    for (let text = this.#read('"'); text !== '"'; text = this.#read('"')) this.#pushLiteral(text);
  }

  #readLetter(before: string | undefined, letter: string): void {
    const lower = letter.toLowerCase();
    if (!DATE_LETTERS.includes(lower)) {
      this.#readTextLetter(before, letter);
      return;
    }
    let width = 1;
    while (this.#characters[this.#next]?.toLowerCase() === lower && /[a-zA-Z]/.test(this.#characters[this.#next] ?? "")) {
      this.#next += 1;
      width += 1;
    }
    // `e` is the year of an era. The only era that is displayed is the common one.
    const unit: DateUnit = lower === "e" ? { name: "year", width: 4 } : { name: UNIT_OF_LETTER[lower] ?? "year", width };
    this.#section.push({ kind: "date", unit });
  }

  /** Single letters such as the x in `0.0x` are displayed. Words must be in quotes. */
  #readTextLetter(before: string | undefined, letter: string): void {
    const after = this.#characters[this.#next];
    const isAlone = [before, after].every((neighbor) => {
      const isBesideDate = letter === "T" && neighbor !== undefined && /[ymdhs]/i.test(neighbor);
      return neighbor === undefined || isBesideDate || !/[a-zA-Z]/.test(neighbor);
    });
    if (!isAlone || /[bgn]/i.test(letter)) throw new InvalidFormat(`${letter} has no meaning here`);
    this.#pushLiteral(letter);
  }

  #readBrackets(): void {
    const end = this.#characters.indexOf("]", this.#next);
    if (end < 0) throw new InvalidFormat("the closing bracket ] is missing");
    const content = this.#characters.slice(this.#next, end).join("");
    this.#next = end + 1;
    if (content.startsWith("$")) {
      // The language of `[$€-407]` is ignored: names of months are in English.
      const [symbol = ""] = content.slice(1).split("-");
      for (const literal of symbol) this.#pushLiteral(literal);
      return;
    }
    const unit = elapsedUnit(content);
    const condition = parseCondition(content);
    if (unit !== undefined) this.#section.push({ kind: "date", unit });
    else if (condition !== undefined) this.#section.push({ kind: "condition", condition });
    else if (!isColor(content)) throw new InvalidFormat(`[${content}] has no meaning`);
  }
}

const SIMPLE: Record<string, Token> = {
  "0": { kind: "placeholder", placeholder: "0" },
  "?": { kind: "placeholder", placeholder: "?" },
  "#": { kind: "placeholder", placeholder: "#" },
  ".": { kind: "point" },
  ",": { kind: "comma" },
  "/": { kind: "slash" },
  "%": { kind: "percent" },
  "@": { kind: "text" },
};

function simpleToken(character: string): Token | undefined {
  return /[1-9]/.test(character) ? { kind: "digit", text: character } : SIMPLE[character];
}

function elapsedUnit(content: string): DateUnit | undefined {
  if (!/^(h+|m+|s+)$/i.test(content)) return undefined;
  const name = ELAPSED[content.charAt(0).toLowerCase()];
  return name === undefined ? undefined : { name, width: content.length };
}

function isColor(content: string): boolean {
  if (COLORS.includes(content.toLowerCase())) return true;
  const number = /^color\s*\+?(\d{1,3})$/i.exec(content)?.[1];
  return number !== undefined && Number(number) >= 1 && Number(number) <= 56;
}
