/** An OpenID Connect issuer for tests: a real one would need an account and https. It checks PKCE and rotates tokens. */

import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";

export interface Issuer {
  url: string;
  clientId: string;
  /** The id tokens that it has issued. */
  tokens: string[];
  /** How often a refresh token was used. */
  refreshes: number;
  close(): Promise<void>;
}

interface Grant {
  nonce?: string | undefined;
  challenge?: string | undefined;
}

const CLIENT_ID = "cellar-page";
/** Shorter than the margin of the page, so that the first token is renewed at once. */
const FIRST_TOKEN_S = 30;
const NEXT_TOKEN_S = 3_600;

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return new URLSearchParams(text);
}

export async function startIssuer(): Promise<Issuer> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const grants = new Map<string, Grant>();
  const issuer: Issuer = { url: "", clientId: CLIENT_ID, tokens: [], refreshes: 0, close: async () => undefined };

  const tokenReply = ({ nonce }: Grant, validS: number) => {
    const nowS = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer.url, sub: "ann", aud: CLIENT_ID, iat: nowS, exp: nowS + validS, nonce };
    const signed = `${base64url({ alg: "RS256", typ: "JWT" })}.${base64url(claims)}`;
    const token = `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
    issuer.tokens.push(token);
    const refreshToken = randomUUID();
    grants.set(refreshToken, {});
    return { access_token: randomUUID(), token_type: "Bearer", expires_in: validS, id_token: token, refresh_token: refreshToken };
  };

  const exchange = (form: URLSearchParams): object | null => {
    const isRefresh = form.get("grant_type") === "refresh_token";
    const key = form.get(isRefresh ? "refresh_token" : "code") ?? "";
    const grant = grants.get(key);
    grants.delete(key);
    if (grant === undefined) return null;
    if (isRefresh) {
      issuer.refreshes += 1;
      return tokenReply(grant, NEXT_TOKEN_S);
    }
    const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    return challenge === grant.challenge ? tokenReply(grant, FIRST_TOKEN_S) : null;
  };

  const discovery = () => ({
    issuer: issuer.url,
    authorization_endpoint: `${issuer.url}/authorize`,
    token_endpoint: `${issuer.url}/token`,
    jwks_uri: `${issuer.url}/keys`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    scopes_supported: ["openid", "offline_access"],
  });

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", issuer.url);
    const headers = { "content-type": "application/json", "access-control-allow-origin": "*" };
    const reply = (status: number, body: object) => response.writeHead(status, headers).end(JSON.stringify(body));
    if (pathname === "/.well-known/openid-configuration") return void reply(200, discovery());
    if (pathname === "/authorize") {
      const code = randomUUID();
      grants.set(code, { nonce: searchParams.get("nonce") ?? undefined, challenge: searchParams.get("code_challenge") ?? undefined });
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      back.search = new URLSearchParams({ code, state: searchParams.get("state") ?? "" }).toString();
      return void response.writeHead(302, { location: back.href }).end();
    }
    void formOf(request).then((form) => {
      const body = exchange(form);
      if (body === null) reply(400, { error: "invalid_grant" });
      else reply(200, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  issuer.url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  issuer.close = () => new Promise((resolve) => server.close(() => resolve()));
  return issuer;
}
