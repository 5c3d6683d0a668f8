/** What an outbox needs from the page and the rest of the data layer. */

import type { Api } from "./api";
import type { Random } from "./backoff";
import type { OutboxStore, Step } from "./outbox-store";
import type { MutationResult } from "./wire";

export interface OutboxScope {
  stack: string;
  spreadsheet: string;
  /** Names the user, so that edits are never sent as another one. Holds no secret. */
  identity: string;
}

export interface OutboxEvents {
  answered(results: readonly MutationResult[], step: Step): void;
  /** The base of the edits was lost, or they were refused: the sheet must be loaded again. */
  startOver(): void;
  changed(): void;
  /** The tab continues as another client. */
  clientChanged(client: string): void;
}

export interface OutboxContext {
  api: Api;
  store: OutboxStore;
  scope: OutboxScope;
  events: OutboxEvents;
  random: Random;
  now: () => number;
}

export function newClientId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
