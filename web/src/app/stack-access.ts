/** The stack that serves the page, as the user or as the holder of a share link. */

import { createStackClient, type StackClient } from "../stack/http";
import { linkTokenOf, type Route } from "./routes";
import { currentCredentials, noteUnauthorized } from "./session";

/** A client of the stack, and the `fetch` that notices an expired token. */
export interface StackAccess {
  stack: StackClient;
  fetch: typeof fetch;
  isLink: boolean;
}

/** URL of the stack: the folder of the page. */
export function stackUrl(): string {
  return new URL(".", location.href.replace(/[?#].*$/, "")).href.replace(/\/$/, "");
}

export function accessOfUser(): StackAccess {
  const watchedFetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.status === 401) noteUnauthorized();
    return response;
  };
  const stack = createStackClient({ url: stackUrl(), getToken: userToken, fetch: watchedFetch });
  return { stack, fetch: watchedFetch, isLink: false };
}

export function accessOfLink(route: Route): StackAccess | null {
  const token = linkTokenOf(route);
  if (token === null) return null;
  const stack = createStackClient({ url: stackUrl(), getToken: () => token });
  return { stack, fetch: (input, init) => fetch(input, init), isLink: true };
}

async function userToken(): Promise<string> {
  const credentials = currentCredentials();
  if (credentials === null) throw new Error("there is no token; sign in");
  if (credentials.renewal === undefined) return credentials.token;
  const { freshToken } = await import("./login/renew");
  return freshToken(credentials);
}
