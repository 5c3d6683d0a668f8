import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { COLORS } from "../../src/base/colors";
import { colorOfPerson } from "../../src/base/person-color";
import { LATER_STYLE } from "../../src/grid/later-style";
import { LABEL_HEIGHT, labelPlace, peopleText, shortName } from "../../src/grid/other-look";
import { STYLE } from "../../src/grid/style";

const person = (author: string) => ({ author });

describe("names of others", () => {
  test("are short", () => {
    expect(shortName("ada@example.com")).toBe("ada");
    expect(shortName("  Grace ")).toBe("Grace");
    expect(shortName("@home")).toBe("@home");
    expect(shortName("")).toBe("Anonymous");
    expect([...shortName("😀".repeat(30))]).toHaveLength(20);
  });

  test("are listed once each", () => {
    expect(peopleText([])).toBe("");
    expect(peopleText([person("Ada"), person("Ada")])).toBe("Ada is here");
    expect(peopleText([person("Grace"), person("Ada")])).toBe("Ada and Grace are here");
    expect(peopleText(["Ada", "Bo", "Cy"].map(person))).toBe("Ada, Bo and 1 other are here");
    expect(peopleText(["Ada", "Bo", "Cy", "Di", "Ed"].map(person))).toBe("Ada, Bo and 3 others are here");
  });
});

describe("the colors of people", () => {
  test("stay, and differ while there are enough", () => {
    const people = Array.from({ length: 2 * COLORS }, (_, index) => `person ${index * 7}`);
    const given = people.map(colorOfPerson);
    expect(new Set(given.slice(0, COLORS)).size).toBe(COLORS);
    // The colors that are used again are used equally often.
    expect(new Set(given.slice(COLORS)).size).toBe(COLORS);
    expect(people.map(colorOfPerson)).toEqual(given);
    expect(Math.max(...given)).toBeLessThan(COLORS);
  });

  test.each([
    ["light", /:host \{([^}]*)\}/],
    ["dark", /prefers-color-scheme: dark\) \{\s*:host \{([^}]*)\}/],
  ])("can be read as text in %s colors, and are not the color of the own selection", (_, block) => {
    const own = colorsOf(block.exec(STYLE)?.[1] ?? "");
    const others = colorsOf(block.exec(LATER_STYLE)?.[1] ?? "");
    expect(Object.keys(others)).toHaveLength(COLORS);
    for (const color of Object.values(others)) {
      // The label has the background's color as text, and the border is drawn on it.
      expect(contrast(color, own["--cellar-background"]!)).toBeGreaterThanOrEqual(4.5);
      expect(distance(color, own["--cellar-accent"]!)).toBeGreaterThan(75);
    }
  });
});

const side = fc.integer({ min: -50, max: 500 });
const place = fc.record({ x: side, y: side, width: fc.integer({ min: 10, max: 300 }), height: fc.integer({ min: 20, max: 300 }) });
const BODY = { x: 0, y: 0, width: 400, height: 300 };

describe("the place of a name", () => {
  test("is in the body, and never over the cell that the user edits", () => {
    fc.assert(
      fc.property(place, place, fc.integer({ min: 20, max: 150 }), (range, active, width) => {
        const at = labelPlace(range, width, active, BODY);
        if (at === null) return;
        expect(at.x >= 0 && at.x + width <= 400 && at.y >= 0 && at.y + LABEL_HEIGHT <= 300).toBe(true);
        const isBeside = at.x >= active.x + active.width || at.x + width <= active.x;
        expect(isBeside || at.y >= active.y + active.height || at.y + LABEL_HEIGHT <= active.y).toBe(true);
      }),
    );
  });

  test("is above the selection, else below it, else in it", () => {
    const range = { x: 100, y: 100, width: 50, height: 24 };
    const far = { x: 0, y: 200, width: 50, height: 24 };
    expect(labelPlace(range, 40, far, BODY)).toEqual({ x: 100, y: 85 });
    expect(labelPlace(range, 40, { ...range, y: 76 }, BODY)).toEqual({ x: 100, y: 124 });
    expect(labelPlace({ ...range, y: 0 }, 40, far, BODY)).toEqual({ x: 100, y: 24 });
    expect(labelPlace({ ...range, y: -8, height: 316 }, 40, far, BODY)).toEqual({ x: 100, y: 0 });
    expect(labelPlace({ ...range, y: -8, height: 316 }, 40, { ...range, y: 0 }, BODY)).toBeNull();
    expect(labelPlace({ ...range, y: 0, height: 300 }, 40, far, BODY)).toEqual({ x: 100, y: 0 });
    expect(labelPlace({ ...range, x: 380 }, 40, far, BODY)).toEqual({ x: 360, y: 85 });
  });
});

function colorsOf(declarations: string): Record<string, string> {
  return Object.fromEntries([...declarations.matchAll(/(--cellar-(?:mark-\d|accent|background)): (#[0-9a-f]{6})/g)].map(([, name, color]) => [name!, color!]));
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

function luminance(color: string): number {
  const [red, green, blue] = channels(color).map((channel) => {
    const part = channel / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter! + 0.05) / (darker! + 0.05);
}

function distance(one: string, other: string): number {
  const right = channels(other);
  return Math.hypot(...channels(one).map((channel, index) => channel - right[index]!));
}
