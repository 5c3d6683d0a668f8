// The unmodified client, and a network that loses what it is told to lose.
import { setTimeout as sleep } from 'node:timers/promises';
import { Replicache } from 'replicache';

const PATIENCE_MS = 60_000;
const config = JSON.parse(process.argv[3]);
const realFetch = globalThis.fetch;

// What becomes of the requests: `lost` is an answer that never comes, `down` a request that never goes.
export const network = { down: false, loseAnswers: 0, answers: 0, pushes: [] };

globalThis.fetch = async (request, options) => {
  if (network.down) throw new TypeError('the network is down');
  const url = new URL(request.url);
  for (const name of request.headers.keys()) {
    // A browser would not send it to another origin.
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
  const url = `${options.url ?? config.url}v1/spreadsheets/${config.spreadsheet}`;
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
      // What it shows until the server has it: gone as soon as its acknowledgement is pulled.
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

// A cell of the first column of the first sheet.
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
    if (Date.now() > end) throw new Error(`it never came to this: ${what}`);
    await sleep(10);
  }
}

// Pulls until everything that was done here is acknowledged and the view has `edits` mutations.
export async function settled(replicache, edits) {
  await until(`${edits} edits are there and none is pending`, async () => {
    await replicache.pull({ now: true }).catch(() => {});
    const pending = await replicache.experimentalPendingMutations();
    return pending.length === 0 && (await mutations(replicache)).length === edits;
  });
}

// The mutations of the view, in the log's order.
export async function mutations(replicache) {
  const entries = await replicache.query((tx) =>
    tx.scan({ prefix: 'entry/' }).values().toArray());
  return entries.flatMap((entry) => entry.mutations ?? []);
}

export function equal(what, found, expected) {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what}: ${one} instead of ${other}`);
}
