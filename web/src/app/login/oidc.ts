/** Signs in with an OpenID Connect issuer: the authorization code flow with PKCE. */

import * as oauth from "oauth4webapi";
import type { Credentials } from "../session";
import { stackUrl } from "../stack-access";
import type { Issuer } from "./config";

/** What the page must remember during the redirect. */
interface Flow {
  issuer: string;
  clientId: string;
  state: string;
  nonce: string;
  verifier: string;
  /** The fragment to return to. */
  returnTo: string;
}

const FLOW_KEY = "cellar-login";

/** Leaves the page for the issuer. Edits that wait are in IndexedDB and stay there. */
export async function startLogin({ issuer, clientId }: Issuer): Promise<void> {
  const server = await discover(issuer);
  if (server.authorization_endpoint === undefined) throw new Error(`${issuer} names no authorization endpoint`);
  const flow: Flow = {
    issuer,
    clientId,
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    returnTo: location.hash,
  };
  sessionStorage.setItem(FLOW_KEY, JSON.stringify(flow));
  const url = new URL(server.authorization_endpoint);
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri(),
    response_type: "code",
    scope: scopeOf(server),
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(flow.verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  location.assign(url);
}

export interface FinishedLogin {
  credentials: Credentials;
  returnTo: string;
}

/** Reads the answer of the issuer in the address, and exchanges its code for a token. */
export async function finishLogin(address: URL): Promise<FinishedLogin> {
  const stored = sessionStorage.getItem(FLOW_KEY);
  if (stored === null) throw new Error("the sign-in was started in another tab or has ended; sign in again");
  // A code is good for one attempt.
  sessionStorage.removeItem(FLOW_KEY);
  const flow = JSON.parse(stored) as Flow;
  const server = await discover(flow.issuer);
  const client = { client_id: flow.clientId };
  const parameters = oauth.validateAuthResponse(server, client, address, flow.state);
  const response = await oauth.authorizationCodeGrantRequest(
    server, client, oauth.None(), parameters, redirectUri(), flow.verifier, insecureOn(flow.issuer),
  );
  const result = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: flow.nonce,
    requireIdToken: true,
  });
  return { credentials: credentialsOf(flow.issuer, flow.clientId, result), returnTo: flow.returnTo };
}

/** Exchanges the refresh token for new tokens. */
export async function refreshCredentials(renewal: NonNullable<Credentials["renewal"]>): Promise<Credentials> {
  const { issuer, clientId, refreshToken } = renewal;
  const server = await discover(issuer);
  const client = { client_id: clientId };
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, insecureOn(issuer));
  const result = await oauth.processRefreshTokenResponse(server, client, response);
  // An issuer without rotation sends no new refresh token.
  return credentialsOf(issuer, clientId, result, refreshToken);
}

async function discover(issuer: string): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer);
  const response = await oauth.discoveryRequest(url, { algorithm: "oidc", ...insecureOn(issuer) });
  return oauth.processDiscoveryResponse(url, response);
}

/** The stack checks that the audience is its client id, which holds for the id token. */
function credentialsOf(
  issuer: string,
  clientId: string,
  result: oauth.TokenEndpointResponse,
  earlierRefreshToken?: string,
): Credentials {
  const { id_token: token, refresh_token: refreshToken = earlierRefreshToken } = result;
  if (token === undefined) throw new Error(`${issuer} sent no id token`);
  const expiresMs = (oauth.getValidatedIdTokenClaims(result)?.exp ?? 0) * 1_000;
  return refreshToken === undefined ? { token } : { token, renewal: { issuer, clientId, refreshToken, expiresMs } };
}

function scopeOf(server: oauth.AuthorizationServer): string {
  const supported = server.scopes_supported ?? [];
  return ["openid", "email", "offline_access"].filter((scope) => scope === "openid" || supported.includes(scope)).join(" ");
}

function redirectUri(): string {
  return `${stackUrl()}/`;
}

/** An issuer on this machine may use http, such as in tests. */
function insecureOn(issuer: string): { [oauth.allowInsecureRequests]?: true } {
  const { protocol, hostname } = new URL(issuer);
  return protocol === "http:" && ["127.0.0.1", "localhost"].includes(hostname) ? { [oauth.allowInsecureRequests]: true } : {};
}
