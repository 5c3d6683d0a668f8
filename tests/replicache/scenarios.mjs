// node scenarios.mjs NAME CONFIG: runs one scenario; exits with 0 if all its checks pass.
import * as client from './client.mjs';

const { network, open, edit, equal, settled, until } = client;

const scenarios = {
  // Two tabs of one client group and a second group see all edits, and no edit stays pending.
  async happyPath() {
    const [one, two] = [open(), open()];
    const other = open({ replicache: { name: 'another group' } });
    await edit(one, 0, 'first');
    equal('pending edits right after an edit', await client.count(one, 'pending/'), 1);
    await edit(two, 1, 'second');
    await edit(other, 2, 'third');
    for (const replicache of [one, two, other]) {
      await settled(replicache, 3);
      equal('edits that are still pending', await client.count(replicache, 'pending/'), 0);
    }
    for (let row = 3; row < 23; row++) await edit(one, row, row);
    await settled(one, 23);
    await settled(other, 23);
    await Promise.all([one, two, other].map((replicache) => replicache.close()));
  },

  // Mutations that can never succeed do not block later mutations.
  async poisonMutation() {
    const one = open();
    await edit(one, 0, 'before');
    await one.mutate.poison({ nonsense: true });
    await one.mutate.edit({ base: 4242, incarnation: 0, op: client.setCell(1, 'no such base') });
    await one.mutate.edit({ base: 0, incarnation: 0, op: { rejected: { reason: 'invalid', detail: '' } } });
    await edit(one, 2, 'behind');
    await settled(one, 5);
    const rejected = (mutation) => 'rejected' in (mutation.committed?.[0] ?? mutation.op);
    const found = (await client.mutations(one)).map(rejected);
    equal('rejected mutations', found, [false, true, true, true, false]);
    await one.close();
  },

  // Each edit is in the log once, regardless of which responses are lost.
  async lostReplies() {
    const one = open();
    for (let row = 0; row < 30; row++) {
      network.loseAnswers = row % 4;
      await edit(one, row, row);
      if (row % 3 === 0) await until('a response arrives', async () => network.loseAnswers === 0);
    }
    await settled(one, 30);
    const ids = (await client.mutations(one)).map((mutation) => mutation.id);
    equal('ids', ids, Array.from({ length: 30 }, (_, index) => index + 1));
    await one.close();
  },

  // After the tables are restored, the client learns that its state is lost, and a new client works.
  async serverStateLost() {
    const one = open();
    await edit(one, 0, 'before');
    await settled(one, 1);
    let lost = false;
    one.onClientStateNotFound = () => (lost = true);
    const restored = `${client.elsewhere('restored')}/v1/spreadsheets/${client.elsewhere('spreadsheet')}`;
    one.pushURL = `${restored}/push`;
    one.pullURL = `${restored}/pull`;
    await one.pull({ now: true }).catch(() => {});
    await until('the client learns that its state is lost', async () => lost);
    await one.close();
    const again = open({ url: client.elsewhere('restored') });
    await settled(again, 1);
    await edit(again, 1, 'after');
    await settled(again, 2);
    equal('incarnation', (await client.head(again)).incarnation, 1);
    await again.close();
  },

  // Edits made offline under the old schema version are sent by the new version of the application.
  async schemaBump() {
    const before = open();
    await edit(before, 0, 'online');
    await settled(before, 1);
    network.down = true;
    await edit(before, 1, 'offline');
    await edit(before, 2, 'also offline');
    // Stored persistently, so that the next session finds the edits.
    await until('the edits are stored', async () => (await before.experimentalPendingMutations()).length === 2);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await before.close();
    network.down = false;
    const pushes = network.pushes.length;
    const after = open({ replicache: { schemaVersion: '1' } });
    await settled(after, 3);
    const versions = new Set(network.pushes.slice(pushes).map((push) => push.schemaVersion));
    equal('schema versions of the offline edits', [...versions], ['']);
    await edit(after, 3, 'after');
    await settled(after, 4);
    await after.close();
  },

  // A client sends thousands of edits that it made offline.
  async offlineRecovery() {
    const one = open();
    await edit(one, 0, 'online');
    await settled(one, 1);
    network.down = true;
    for (let row = 1; row <= 2_500; row++) await edit(one, row, row);
    equal('pending edits', await client.count(one, 'pending/'), 2_500);
    network.down = false;
    await settled(one, 2_501);
    equal('edits that are still pending', await client.count(one, 'pending/'), 0);
    await one.close();
  },
};

const scenario = scenarios[process.argv[2]];
if (!scenario) throw new Error(`no scenario ${process.argv[2]}: ${Object.keys(scenarios)}`);
await scenario();
console.log(`done, ${network.answers} answers`);
