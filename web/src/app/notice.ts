/** A message that one screen leaves for the next one. */

let notice = "";

export function leaveNotice(text: string): void {
  notice = text;
}

export function takeNotice(): string {
  const text = notice;
  notice = "";
  return text;
}
