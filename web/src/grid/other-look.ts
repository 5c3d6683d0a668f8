import type { OtherSelection } from "../data/types";
import type { Box } from "./overlay";

const MAX_NAME_LENGTH = 20;
export const LABEL_HEIGHT = 15;

/** Returns a name for a label: of an address only the part before the @. */
export function shortName(author: string): string {
  const [start = ""] = author.trim().split("@");
  const letters = [...(start || author.trim() || "Anonymous")];
  return letters.length > MAX_NAME_LENGTH ? `${letters.slice(0, MAX_NAME_LENGTH - 1).join("")}…` : letters.join("");
}

/** Returns who is here, such as "Ada, Grace and 2 others are here", or "". */
export function peopleText(others: readonly Pick<OtherSelection, "author">[]): string {
  const names = [...new Set(others.map(({ author }) => shortName(author)))].sort((a, b) => a.localeCompare(b));
  const [first, second] = names;
  if (first === undefined) return "";
  if (second === undefined) return `${first} is here`;
  if (names.length === 2) return `${first} and ${second} are here`;
  const more = names.length - 2;
  return `${first}, ${second} and ${more === 1 ? "1 other" : `${more} others`} are here`;
}

type Place = Omit<Box, "isCut">;

/**
 * Returns where the name of a selection is shown: above it, else below it or inside it. Returns null if the name would
 * be outside the body or hide part of `active`, the cell that takes what is typed.
 */
export function labelPlace(range: Place, width: number, active: Place, body: Place): { x: number; y: number } | null {
  const x = Math.max(body.x, Math.min(range.x, body.x + body.width - width));
  const candidates = [range.y - LABEL_HEIGHT, range.y + range.height, Math.max(range.y, body.y)];
  const fits = (y: number) => {
    const isInside = y >= body.y && y + LABEL_HEIGHT <= body.y + body.height;
    return isInside && !overlaps({ x, y, width, height: LABEL_HEIGHT }, active);
  };
  const y = candidates.find(fits);
  return y === undefined ? null : { x, y };
}

function overlaps(a: Place, b: Place): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}
