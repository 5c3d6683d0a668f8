export interface ArgumentInfo {
  name: string;
  isOptional: boolean;
}

export interface FunctionInfo {
  name: string;
  arguments: readonly ArgumentInfo[];
  /** The arguments that may be repeated: the index of the first one, and their number; 0 if there are none. */
  repeatStart: number;
  repeatCount: number;
  meaning: string;
}

const CALL = /^([A-Z0-9.]+)\((.*)\)\t(.*)$/;
const ARGUMENT = /(\{)?(\[)?([a-z_0-9]+)\]?(\})?(…)?/g;

/** Parses lines such as `SUMIFS(sum_range, {range, criterion}…)`, a tab, and the meaning. */
export function parseSignatures(lines: string): FunctionInfo[] {
  return lines.split("\n").flatMap((line) => {
    const [, name, list, meaning] = CALL.exec(line) ?? [];
    return name === undefined ? [] : [{ name, meaning: meaning ?? "", ...parseArguments(list ?? "") }];
  });
}

function parseArguments(list: string): Pick<FunctionInfo, "arguments" | "repeatStart" | "repeatCount"> {
  const found: ArgumentInfo[] = [];
  let groupStart = 0;
  let repeatStart = 0;
  let repeatCount = 0;
  for (const [, open, bracket, name, close, dots] of list.matchAll(ARGUMENT)) {
    if (open) groupStart = found.length;
    found.push({ name: name!, isOptional: bracket !== undefined });
    if (!dots) continue;
    repeatStart = close ? groupStart : found.length - 1;
    repeatCount = found.length - repeatStart;
  }
  return { arguments: found, repeatStart, repeatCount };
}

/** Returns which argument of the list the argument of a call is, or -1 if the function takes fewer. */
export function argumentIndex(info: FunctionInfo, argument: number): number {
  if (argument < info.repeatStart + info.repeatCount || info.repeatCount === 0) {
    return argument < info.arguments.length ? argument : -1;
  }
  return info.repeatStart + ((argument - info.repeatStart) % info.repeatCount);
}

/** Returns the arguments as they are shown. A `…` follows those that may be repeated. */
export function argumentTexts(info: FunctionInfo): string[] {
  const last = info.repeatStart + info.repeatCount - 1;
  return info.arguments.map(({ name, isOptional }, index) => (isOptional ? `[${name}]` : name) + (info.repeatCount > 0 && index === last ? ", …" : ""));
}
