/** The routes of the page, in the fragment of its URL, which browsers do not send to a server. */

export interface SheetRoute {
  kind: "sheet";
  id: string;
  /** Secret of a share link. */
  link?: string;
  /** Name of a sheet. */
  sheet?: string;
  /** A cell or range such as `B2:C9`. */
  cell?: string;
  /** A position such as `0.42`, or a time: the state to show, read-only. */
  at?: string;
}

export type Route =
  | { kind: "list" }
  | SheetRoute
  /** The text is no route; `reason` is for the user. */
  | { kind: "unknown"; reason: string };

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** 16 bytes as unpadded base64url: the last character has 2 bits only. */
const SECRET = /^[A-Za-z0-9_-]{21}[AQgw]$/;
const LINK_TOKEN = /^cellar-link\.([^.]+)\.([^.]+)$/;
const SHEET_PREFIX = "/s/";

const NO_SPREADSHEET = "It names no spreadsheet: it must look like #/s/ID.";
const INCOMPLETE_LINK = "The share link is incomplete. Copy it in full: it ends with ?link=SECRET.";

/** Parses a fragment, with or without its `#`. */
export function parseRoute(fragment: string): Route {
  const text = fragment.replace(/^#/, "");
  if (text === "" || text === "/") return { kind: "list" };
  if (!text.startsWith(SHEET_PREFIX)) return { kind: "unknown", reason: NO_SPREADSHEET };
  const [id = "", query = ""] = splitOnce(text.slice(SHEET_PREFIX.length), "?");
  if (!ID.test(id)) return { kind: "unknown", reason: NO_SPREADSHEET };
  const parameters = new URLSearchParams(query);
  const link = parameters.get("link");
  if (link !== null && !SECRET.test(link)) return { kind: "unknown", reason: INCOMPLETE_LINK };
  const route: SheetRoute = { kind: "sheet", id: id.toLowerCase() };
  for (const name of ["link", "sheet", "cell", "at"] as const) {
    const value = parameters.get(name);
    if (value !== null && value !== "") route[name] = value;
  }
  return route;
}

/** Returns the fragment of a route, with `#`. The secret is first, as `cellar` prints and reads it. */
export function formatRoute(route: Route): string {
  if (route.kind !== "sheet") return "#/";
  const query = (["link", "sheet", "cell", "at"] as const).flatMap((name) => {
    const value = route[name];
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`];
  });
  return `#${SHEET_PREFIX}${route.id}${query.length === 0 ? "" : `?${query.join("&")}`}`;
}

/** Returns the bearer token of a route with a share link. */
export function linkTokenOf(route: Route): string | null {
  if (route.kind !== "sheet" || route.link === undefined) return null;
  return `cellar-link.${route.id}.${route.link}`;
}

/** Returns the route of a text that a user pasted: a URL of the page, or the token of a share link. */
export function routeOfPastedText(text: string): Route | null {
  const [, id, secret] = LINK_TOKEN.exec(text.trim()) ?? [];
  if (id !== undefined && secret !== undefined) return parseRoute(`/s/${id}?link=${secret}`);
  const [, fragment] = /^https?:\/\/[^#]*#(.+)$/.exec(text.trim()) ?? [];
  return fragment === undefined || fragment.startsWith("token=") ? null : parseRoute(fragment);
}

/** Returns the token of a fragment such as `#token=…`, which `deploy --local` prints. */
export function tokenOfFragment(fragment: string): string | null {
  const [, token] = /^#?token=([^&]+)/.exec(fragment) ?? [];
  try {
    return token === undefined ? null : decodeURIComponent(token);
  } catch {
    return null;
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}
