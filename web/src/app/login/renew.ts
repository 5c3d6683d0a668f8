/** Renews a token shortly before it expires. */

import { askSiblingTabs, currentCredentials, setCredentials, type Credentials } from "../session";

const MARGIN_MS = 60_000;
const LOCK = "cellar-renew";

export async function freshToken(credentials: Credentials): Promise<string> {
  if (!isExpiring(credentials)) return credentials.token;
  // Tabs share a refresh token that may be good for one use.
  const renewed = await navigator.locks.request(LOCK, renew);
  return renewed.token;
}

async function renew(): Promise<Credentials> {
  await askSiblingTabs();
  const credentials = currentCredentials();
  if (credentials === null) throw new Error("there is no token; sign in");
  if (credentials.renewal === undefined || !isExpiring(credentials)) return credentials;
  try {
    const { refreshCredentials } = await import("./oidc");
    const renewed = await refreshCredentials(credentials.renewal);
    setCredentials(renewed);
    return renewed;
  } catch {
    // The stack decides whether the old token is still good.
    return credentials;
  }
}

function isExpiring({ renewal }: Credentials): boolean {
  return renewal !== undefined && renewal.expiresMs - Date.now() < MARGIN_MS;
}
