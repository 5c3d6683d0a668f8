/** The color of a person, which is the same for the cursor, the marks and all tabs of that person. */

import { COLORS } from "./colors";

/** The people whose color was asked for, by color. */
const known: Set<string>[] = Array.from({ length: COLORS }, () => new Set());

/** Returns the number of a person's color. Two people share one only if there are more people than colors. */
export function colorOfPerson(author: string): number {
  const given = known.findIndex((people) => people.has(author));
  if (given >= 0) return given;
  const fewest = Math.min(...known.map(({ size }) => size));
  // The same on all screens, unless two people have the same first choice.
  let color = hashOf(author) % COLORS;
  while (known[color]!.size > fewest) color = (color + 1) % COLORS;
  known[color]!.add(author);
  return color;
}

function hashOf(text: string): number {
  let hash = 0;
  for (const character of text) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}
