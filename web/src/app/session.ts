/** The user's token. It is in memory and in sessionStorage, which other tabs cannot read. */

import { forgetCells } from "../data/forget-cells";
import { tokenOfFragment } from "./routes";

export interface Credentials {
  token: string;
  /** Set for tokens of an issuer that can renew them. */
  renewal?: { issuer: string; clientId: string; refreshToken: string; expiresMs: number };
}

const KEY = "cellar-session";
const CHANNEL = "cellar-session";
const SIBLING_WAIT_MS = 150;

let credentials: Credentials | null = null;
let isUnauthorized = false;
let mayAsk = true;
const listeners = new Set<() => void>();

/** Moves a token from the address bar to the session. */
export function takeTokenFromAddress(): boolean {
  const token = tokenOfFragment(location.hash);
  if (token === null) return false;
  history.replaceState(history.state, "", `${location.pathname}${location.search}#/`);
  setCredentials({ token });
  return true;
}

export function currentCredentials(): Credentials | null {
  credentials ??= readStored();
  return credentials;
}

export function setCredentials(next: Credentials | null): void {
  credentials = next;
  isUnauthorized = false;
  try {
    if (next === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // A browser without storage keeps the token in memory.
  }
  for (const listener of listeners) listener();
}

/** Notes that the server refused the token, such as because it has expired. */
export function noteUnauthorized(): void {
  if (isUnauthorized) return;
  isUnauthorized = true;
  for (const listener of listeners) listener();
}

export function wasUnauthorized(): boolean {
  return isUnauthorized;
}

/** Returns a text that is the same for all tokens of a person. */
export function personOf({ token }: Credentials): string {
  try {
    const payload = token.split(".")[1] ?? "";
    const claims = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))) as { iss?: unknown; sub?: unknown };
    return typeof claims.sub === "string" ? `${String(claims.iss)} ${claims.sub}` : token;
  } catch {
    return token;
  }
}

export function subscribeToSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function readStored(): Credentials | null {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    return isCredentials(stored) ? stored : null;
  } catch {
    return null;
  }
}

function isCredentials(value: unknown): value is Credentials {
  return typeof value === "object" && value !== null && "token" in value && typeof value.token === "string";
}

/** Answers tabs that were opened without a session, such as by "open in a new tab". */
export function answerSiblingTabs(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    if (data === "ask" && credentials !== null && !isUnauthorized) channel.postMessage(credentials);
    if (data === "end") leaveSession();
  };
}

/** Ends the session of this tab, which then does not take that of another tab. */
export function leaveSession(): void {
  mayAsk = false;
  setCredentials(null);
}

/** Ends the session of all tabs. The next person at this browser must not find cells in it. */
export function signOut(): void {
  leaveSession();
  forgetCells();
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage("end");
  channel.close();
}

/** Takes the session of another tab if it is newer. Returns whether there is one. */
export async function askSiblingTabs(): Promise<boolean> {
  if (!mayAsk) return false;
  const channel = new BroadcastChannel(CHANNEL);
  return new Promise((resolve) => {
    const finish = (hasSession: boolean) => {
      clearTimeout(timer);
      channel.close();
      resolve(hasSession);
    };
    const timer = setTimeout(() => finish(false), SIBLING_WAIT_MS);
    channel.onmessage = ({ data }) => {
      if (!isCredentials(data)) return;
      if (credentials === null || isNewer(data, credentials)) setCredentials(data);
      finish(true);
    };
    channel.postMessage("ask");
  });
}

function isNewer(next: Credentials, current: Credentials): boolean {
  if (personOf(next) !== personOf(current)) return false;
  return (next.renewal?.expiresMs ?? 0) > (current.renewal?.expiresMs ?? 0);
}
