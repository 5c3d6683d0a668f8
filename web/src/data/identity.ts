/** Names the user of a token without a secret, so that edits are never sent as another user. */

export const UNKNOWN_IDENTITY = "unknown";

export async function identityOf(getToken: () => string | Promise<string>): Promise<string> {
  try {
    const token = await getToken();
    return subjectOf(token) ?? `hash:${await hashOf(token)}`;
  } catch {
    return UNKNOWN_IDENTITY;
  }
}

/** Returns issuer and subject of a JSON Web Token, which stay when the token is renewed. */
function subjectOf(token: string): string | undefined {
  const [, payload, signature] = token.split(".");
  if (payload === undefined || signature === undefined || token.startsWith("cellar-link.")) return undefined;
  try {
    const base64 = payload.replaceAll("-", "+").replaceAll("_", "/");
    const claims: unknown = JSON.parse(atob(base64));
    if (typeof claims !== "object" || claims === null || !("sub" in claims)) return undefined;
    return `${"iss" in claims ? String(claims.iss) : ""} ${String(claims.sub)}`;
  } catch {
    return undefined;
  }
}

async function hashOf(token: string): Promise<string> {
  const DIGEST_BYTES = 8;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  const bytes = [...new Uint8Array(digest).slice(0, DIGEST_BYTES)];
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
