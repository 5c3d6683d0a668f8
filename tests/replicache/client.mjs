// The unmodified Replicache client over a network with simulated failures.
import { setTimeout as sleep } from 'node:timers/promises';
import { Replicache } from 'replicache';

const PATIENCE_MS = 60_000;
const config = JSON.parse(process.argv[3]);
const realFetch = globalThis.fetch;

// State of the network: `down` fails every request, `loseAnswers` drops that many responses.
export const network = { down: false, loseAnswers: 0, answers: 0, pushes: [] };

globalThis.fetch = async (request, options) => {
  if (network.down) throw new TypeError('the network is down');
  const url = new URL(request.url);
  for (const name of request.headers.keys()) {
    // A browser would not send this header to another origin.
    if (!config.headers.includes(name)) throw new Error(`the header ${name} is not allowed`);
  }
  if (url.pathname.endsWith('/push')) network.pushes.push(await request.clone().json());
  const response = await realFetch(request, options);
  network.answers += 1;
  if (network.loseAnswers > 0) {
    network.loseAnswers -= 1;
    throw new TypeError('the answer was lost');
  }
  return response;
};

export function open(options = {}) {
  const url = `${options.url ?? config.url}/v1/spreadsheets/${config.spreadsheet}`;
  const replicache = new Replicache({
    name: 'conformance',
    kvStore: 'mem',
    pushURL: `${url}/push`,
    pullURL: `${url}/pull`,
    auth: `Bearer ${config.token}`,
    pushDelay: 1,
    pullInterval: null,
    logLevel: 'error',
    requestOptions: { minDelayMs: 5, maxDelayMs: 50 },
    mutators: {
      // The optimistic value, which is removed when the acknowledgement is pulled.
      edit: (tx, args) => tx.set(`pending/${tx.mutationID}`, args.op),
      poison: (tx) => tx.set(`pending/${tx.mutationID}`, null),
    },
    ...options.replicache,
  });
  return replicache;
}

export const elsewhere = (which) => config[which];

export const count = async (replicache, prefix) =>
  replicache.query(async (tx) => (await tx.scan({ prefix }).keys().toArray()).length);

export const head = async (replicache) => replicache.query((tx) => tx.get('head'));

// Returns an operation that sets a cell in the first column of the first sheet.
export function setCell(row, value) {
  return { setCells: { cells: [{ row, column: 0, value }] } };
}

export async function edit(replicache, row, value) {
  const { position: base, incarnation } = (await head(replicache)) ?? { position: 0, incarnation: 0 };
  return replicache.mutate.edit({ base, incarnation, op: setCell(row, value) });
}

export async function until(what, isDone) {
  const end = Date.now() + PATIENCE_MS;
  while (!(await isDone())) {
    if (Date.now() > end) throw new Error(`timed out waiting until ${what}`);
    await sleep(10);
  }
}

// Pulls until all pending mutations are acknowledged and the view has `edits` mutations.
export async function settled(replicache, edits) {
  await until(`the view has ${edits} edits and none is pending`, async () => {
    await replicache.pull({ now: true }).catch(() => {});
    const pending = await replicache.experimentalPendingMutations();
    return pending.length === 0 && (await mutations(replicache)).length === edits;
  });
}

// Returns the mutations of the view in log order.
export async function mutations(replicache) {
  const entries = await replicache.query((tx) =>
    tx.scan({ prefix: 'entry/' }).values().toArray());
  return entries.flatMap((entry) => entry.mutations ?? []);
}

export function equal(what, found, expected) {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what}: ${one} instead of ${other}`);
}
