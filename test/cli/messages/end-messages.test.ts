import { expect, it } from 'vitest';
import { catalogue, message, nameOf } from '../../../src/cli/messages/catalogue.js';
import { stopMessages, verdictOf } from '../../../src/cli/messages/end-messages.js';
import { type SharedStore, StateError, type Summary } from '../../../src/index.js';

it('has what earlier runs cost beside what the run itself cost, in the line of all', () => {
  const paid = { spent: 250, refunded: 0, net: 250, source: 'cost_objects' };
  const summary = {
    input: 'list.csv',
    output: 'out.csv',
    rows: 281,
    service: 'https://verify.example.com',
    columns: [],
    credits: { email: paid, phone: null },
    credits_before: { email: 15, phone: 5 },
  } as unknown as Summary;
  const parts = verdictOf(summary, 0, []).split(', ');
  expect(parts[1]).toMatch(/^250 /);
  expect(parts[2]).toMatch(/^20 /);
  expect(verdictOf({ ...summary, service: 'local' }, 0, []).split(', ')).toEqual([
    'list.csv: 281 rows',
  ]);
  const repeated = verdictOf({ ...summary, already_finished: true }, 0, []);
  expect(repeated.split(', ').slice(1)).toEqual([expect.not.stringMatching(/\d/)]);
  const inPlace = { input: 'sqlite:crm.db', output: 'people in sqlite:crm.db' };
  expect(verdictOf({ ...summary, ...inPlace }, 0, [])).toMatch(/^people in sqlite:crm.db: /);
  const warnings = ['doubtful column', 'paid again', 'doubtful column'];
  expect(verdictOf(summary, 0, warnings)).toMatch(/ 3 \S+ \(doubtful column, paid again\)$/);
  // By the words of the catalogue; of its many notices, and of others, by those of the code.
  const named = [
    message('skipped_updates', { changed: 1, gone: 0 }),
    message('notice', { code: 'history_cut', message: 'cut' }),
  ];
  expect(named.map(nameOf)).toEqual([catalogue.skipped_updates.called, 'history cut']);
});

it('has a command for a shared run that waits for its other processes', () => {
  const store = { name: 'night in the store' } as SharedStore;
  const run = { store, storeOptions: '--store env:STORE --run night', program: 'sluice' };
  const stopped = (option: string) =>
    stopMessages(new StateError('no', { code: 'state_mismatch', option }), undefined, '', run);
  expect(stopped('history')).toMatchObject([
    { event: 'command', fields: { command: 'sluice status --store env:STORE --run night' } },
  ]);
  expect(stopped('run')).toEqual([]);
});
