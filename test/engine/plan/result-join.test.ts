import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Batch, halveBatch } from '../../../src/engine/batches/batch.js';
import type { ExportOpener } from '../../../src/engine/plan/result-join.js';
import { ContractError } from '../../../src/platform/errors/service-errors.js';
import { cutEvery } from '../results/export-reading.js';
import { linesOf, Planning } from './planning.js';

type Records = readonly (readonly [key: string, quality: string])[];

/** An export of email records, which differ by their quality alone. */
function exportOf(records: Records): ExportOpener {
  const members = records.map(([key, quality]) => {
    const record = { email: key, valid: true, wrong: false, unknown: false, quality };
    return `${JSON.stringify(key)}:${JSON.stringify(record)}`;
  });
  return openerOf(`{${members.join(',')}}`);
}

function openerOf(text: string): ExportOpener {
  return async () =>
    (async function* () {
      yield Buffer.from(text);
    })();
}

/** Plans one email column of one batch group and gives its only batch. */
function planned(...cells: readonly string[]) {
  const planning = new Planning();
  const tickets = [...planning.plan(...cells.map((cell) => [cell]))];
  const [batch] = planning.batches();
  if (!batch) throw new Error('nothing was planned');
  return {
    planning,
    batch,
    /** Bucket and, of a record, its quality, for each cell. */
    reported: () =>
      tickets.map((ticket) => {
        const outcome = planning.book.outcome(ticket);
        if (outcome < 0) return 'pending';
        const { verification, reason, values } = planning.outcomes.get(outcome);
        return `${verification} ${values ? String(values[3]) : reason}`;
      }),
  };
}

describe('ResultJoin', () => {
  it('gives every row of an address its record, however the row writes it', async () => {
    const { planning, batch, reported } = planned('Ann@x.test', 'b@x.test', ' ann@X.test ');
    await planning.join.settle(batch, {
      results: exportOf([
        ['b@x.test', 'bad'],
        ['Ann@x.test', 'good'],
      ]),
    });
    expect(reported()).toEqual(['verified good', 'verified bad', 'verified good']);
  });

  it('finds keys that come back in another form', async () => {
    const { planning, batch, reported } = planned('Ann@x.test', 'ü@x.test');
    await planning.join.settle(batch, {
      results: exportOf([
        [' ANN@X.TEST', 'good'],
        ['u\u0308@x.test', 'risky'],
      ]),
    });
    expect(reported()).toEqual(['verified good', 'verified risky']);
  });

  it('finds phones that lost their plus, or came back in national form', async () => {
    const columns = [{ type: 'phone', position: 0 }] as const;
    const planning = new Planning({ columns });
    const tickets = planning.plan(['(202) 555-0123'], ['+1 202 555 0199'], ['1-800-FLOWERS']);
    const [batch] = planning.batches();
    if (!batch) throw new Error('nothing was planned');
    const record = (type: string) => ({ valid: true, wrong: false, unknown: false, type });
    await planning.join.settle(batch, {
      results: openerOf(
        JSON.stringify({
          '12025550123': record('mobile'),
          '(202) 555-0199': record('voip'),
          '1-800-FLOWERS': record('toll_free'),
        }),
      ),
    });
    expect([...tickets].map((ticket) => planning.tell(ticket).split(' ')[4])).toEqual([
      'mobile',
      'voip',
      'toll_free',
    ]);
  });

  it('gives addresses without a record no result', async () => {
    const { planning, batch, reported } = planned('a@x.test', 'not an address');
    await planning.join.settle(batch, { results: exportOf([['a@x.test', 'good']]) });
    expect(reported()).toEqual(['verified good', 'no_result no_record']);
  });

  it('gives all addresses of a failed batch its reason', async () => {
    const { planning, batch, reported } = planned('a@x.test', 'b@x.test', 'a@x.test');
    await planning.join.settle(batch, { failure: 'internal_error' });
    const failed = 'failed internal_error';
    expect(reported()).toEqual([failed, failed, failed]);
  });

  it('says of a batch that is not at its end that it is not finished, and no other word', async () => {
    const unfinished = planned('a@x.test');
    unfinished.planning.join.settleUnfinished(unfinished.batch);
    expect(unfinished.reported()).toEqual(['failed not_finished']);
    const finished = planned('a@x.test');
    await finished.planning.join.settle(finished.batch, { failure: 'parse_error' });
    finished.planning.join.settleUnfinished(finished.batch);
    expect(finished.reported()).toEqual(['failed parse_error']);
  });

  it('settles nothing by matching, and the same by what was matched', async () => {
    const { planning, batch, reported } = planned('a@x.test', 'b@x.test');
    const matched = await planning.join.match(
      batch,
      exportOf([
        ['a@x.test', 'good'],
        ['stranger@x.test', 'bad'],
      ]),
    );
    expect(matched).toMatchObject({ records: 2, extra: 1, repeated: 0, ambiguous: 0 });
    expect(reported()).toEqual(['pending', 'pending']);
    await planning.join.settle(batch, { results: matched });
    expect(reported()).toEqual(['verified good', 'no_result no_record']);
  });

  it('names results by lines and by numbers alike, in whatever order they come', async () => {
    const planning = new Planning({ batchSize: 4 });
    planning.plan(...Array.from('1234abcd', (name) => [`${name}@x.test`]));
    const batch = planning.batches()[1];
    if (!batch) throw new Error('one batch was planned');
    for (const order of ['dbac', 'abcd', 'bcd', 'acbd', 'ad', 'd', 'ba']) {
      const names = Array.from(order);
      const exported = exportOf(names.map((name) => [`${name}@x.test`, 'good']));
      const matched = await planning.join.match(batch, exported);
      const named = planning.join.byLine(batch, matched);
      expect(Array.from(named.lines)).toEqual(names.map((name) => 'abcd'.indexOf(name)));
      expect(planning.join.byNumber(batch, named).numbers).toEqual(matched.numbers);
    }
  });

  it('merges nothing of an export that is cut short, at any byte', async () => {
    const text = JSON.stringify({
      'a@x.test': { valid: true, wrong: false, unknown: false, quality: 'good' },
    });
    for (let end = 0; end < text.length; end += 1) {
      const { planning, batch, reported } = planned('a@x.test');
      const settling = planning.join.settle(batch, { results: openerOf(text.slice(0, end)) });
      await expect(settling).rejects.toBeInstanceOf(ContractError);
      expect(reported()).toEqual(['pending']);
      await planning.join.settle(batch, { results: openerOf(text) });
      expect(reported()).toEqual(['verified good']);
    }
  });

  it('never gives a batch the records of another, of its own batch group or not', async () => {
    const planning = new Planning({
      country: { fallback: undefined, position: 1 },
      batchSize: 1,
    });
    const tickets = [...planning.plan(['a@x.test', 'US'], ['a@x.test', 'DE'], ['b@x.test', 'US'])];
    const batches = planning.batches();
    expect(batches.map(({ group }) => group.country)).toEqual(['US', 'DE', 'US']);
    const [first] = batches;
    if (!first) throw new Error('nothing was planned');
    await planning.join.settle(first, {
      results: exportOf([
        ['a@x.test', 'good'],
        ['b@x.test', 'bad'],
      ]),
    });
    expect(tickets.map((ticket) => planning.tell(ticket).split(' ')[0])).toEqual([
      'verified',
      'pending',
      'pending',
    ]);
  });

  it('settles conflicting keys by the line that was sent, and never by a guess', async () => {
    const { planning, batch, reported } = planned('Ann@x.test', 'b@x.test');
    await planning.join.settle(batch, {
      results: exportOf([
        ['ann@x.test', 'bad'],
        ['Ann@x.test', 'good'],
        ['B@x.test', 'bad'],
        ['B@X.test', 'good'],
      ]),
    });
    expect(reported()).toEqual(['verified good', 'no_result no_record']);
  });

  it('reads the lines that were sent however their bytes are cut', async () => {
    const { planning, batch, reported } = planned('Änn@x.test', 'b@x.test', 'Ćarl@x.test');
    const [bytes] = batch.open() as readonly Uint8Array[];
    for (let length = 1; length < 8; length += 1) {
      const chunks = cutEvery(bytes ?? new Uint8Array(), length);
      const matched = await planning.join.match(
        { ...batch, open: () => chunks },
        exportOf([
          ['änn@x.test', 'bad'],
          ['Änn@x.test', 'good'],
          ['ćarl@x.test', 'good'],
          ['Ćarl@x.test', 'bad'],
        ]),
      );
      expect(matched).toMatchObject({ records: 4, ambiguous: 0 });
      if (length === 7) await planning.join.settle(batch, { results: matched });
    }
    expect(reported()).toEqual(['verified good', 'no_result no_record', 'verified bad']);
  });

  it('takes keys that objects keep for themselves as data', async () => {
    const { planning, batch, reported } = planned('__proto__', 'constructor', 'toString');
    await planning.join.settle(batch, {
      results: exportOf([
        ['__proto__', 'good'],
        ['constructor', 'bad'],
      ]),
    });
    expect(reported()).toEqual(['verified good', 'verified bad', 'no_result no_record']);
  });

  it('gives each line of any batch its own record, whatever the order', async () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
      fc.emailAddress(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(cell, { minLength: 1, maxLength: 30 }),
        fc.nat(),
        async (cells, turn) => {
          const planning = new Planning();
          const tickets = [...planning.plan(...cells.map((text) => [text]))];
          const [batch] = planning.batches();
          if (!batch) return;
          const lines = await linesOf(batch);
          const records = lines.map((line, index): [string, string] => [line, `quality-${index}`]);
          const first = turn % records.length;
          const turned = [...records.slice(first), ...records.slice(0, first)];
          await planning.join.settle(batch, { results: exportOf(turned) });
          for (const ticket of tickets) {
            const reports = planning.tell(ticket);
            if (reports.startsWith('not_submitted')) continue;
            expect(reports).toContain(`quality-${ticket}`);
          }
        },
      ),
    );
  });
});

describe('the parts of a batch', () => {
  const cells = Array.from({ length: 7 }, (_, index) => `a${index}@x.test`);
  const good = (...indexes: readonly number[]): ExportOpener =>
    exportOf(indexes.map((index) => [`A${index}@x.test`, `good ${index}`]));

  it('tell of their own lines alone, in whatever order they end', async () => {
    const { planning, batch, reported } = planned(...cells);
    const [first, second] = await halveBatch(batch);
    const [third, fourth] = await halveBatch(second);
    await planning.join.settle(third, { results: good(5) });
    const none = 'no_result no_record';
    const rest = (word: string) => Array<string>(4).fill(word);
    expect(reported()).toEqual([...rest('pending'), none, 'verified good 5', 'pending']);
    await planning.join.settle(first, { failure: 'internal_error' });
    await planning.join.settle(fourth, { results: good(6) });
    expect(reported()).toEqual([
      ...rest('failed internal_error'),
      none,
      'verified good 5',
      'verified good 6',
    ]);
    planning.join.settleUnfinished(batch);
    expect(reported()).not.toContain('failed not_finished');
  });

  it('have no say in the addresses of others, whatever their exports hold', async () => {
    const { planning, batch, reported } = planned(...cells);
    const [first, second] = await halveBatch(batch);
    const matched = await planning.join.match(second, good(0, 3, 4, 5, 6));
    expect([matched.numbers.length, matched.extra]).toEqual([3, 2]);
    await planning.join.settle(second, { results: matched });
    await planning.join.settle(first, { results: good(1, 2, 3, 4) });
    expect(reported()).toEqual([
      'no_result no_record',
      ...[1, 2, 3, 4, 5, 6].map((index) => `verified good ${index}`),
    ]);
  });

  it('leave to what is not finished what none of them has told', async () => {
    const { planning, batch, reported } = planned(...cells);
    const [, second] = await halveBatch(batch);
    await planning.join.settle(second, { results: good(4, 5, 6) });
    planning.join.settleUnfinished(batch);
    const unfinished = Array<string>(4).fill('failed not_finished');
    expect(reported()).toEqual([
      ...unfinished,
      ...[4, 5, 6].map((index) => `verified good ${index}`),
    ]);
  });

  it('are distinguished among the addresses of other batch groups and types', async () => {
    const columns = [
      { type: 'email', position: 0 },
      { type: 'phone', position: 1 },
    ] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('US', 'DE', 'FR'), fc.nat(40)), { minLength: 12 }),
        async (picks) => {
          const country = { fallback: undefined, position: 2 } as const;
          const planning = new Planning({ columns, country });
          const tickets = planning.plan(
            ...picks.map(([group, pick]) => [`${pick}@x.test`, `00${pick}-${group}`, group]),
          );
          const parts: Batch[] = [];
          for (const batch of planning.batches()) {
            if (batch.addresses < 2) parts.push(batch);
            else parts.push(...(await halveBatch(batch)));
          }
          for (const part of parts.toReversed()) {
            const lines = await linesOf(part);
            const { type, country: group } = part.group;
            const record = {
              valid: true,
              wrong: false,
              unknown: false,
              quality: group,
              type: group,
            };
            const records = Object.fromEntries(lines.map((line) => [line, record]));
            const results = openerOf(JSON.stringify(records));
            const { extra, numbers } = await planning.join.match(part, results);
            expect([type, extra, numbers.length]).toEqual([type, 0, lines.length]);
            await planning.join.settle(part, { results });
          }
          const expected = picks.flatMap(([group]) => [group, group]);
          expect([...tickets].map((ticket) => planning.tell(ticket))).toEqual(
            expected.map((group) => expect.stringContaining(` ${group}`) as string),
          );
        },
      ),
      { numRuns: 50 },
    );
  });
});
