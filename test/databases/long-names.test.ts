import { describe, expect, test } from 'vitest';
import { fitNames } from '../../src/databases/fit-names.js';
import { databases } from './places.js';
import { startVerifying } from './verify-rows.js';

const bytes = { most: 10, unit: 'bytes' } as const;

describe('names that are too long', () => {
  test('are cut in front of their ending, between characters, and stay different', () => {
    const names = [
      'fits_valid',
      'too_long_valid',
      'too_long_wrong',
      'too_lang_valid',
      'ünïcödé_valid',
    ];
    const wanted = names.map((name) => ({ name, ending: name.slice(-6) }));
    expect(fitNames(wanted, bytes)).toEqual([
      'fits_valid',
      'too__valid',
      'too__wrong',
      'to_2_valid',
      'ün_valid',
    ]);
    expect(fitNames(wanted, undefined)).toEqual(names);
    expect(fitNames([{ name: 'x'.repeat(11) }, { name: 'x'.repeat(10) }], bytes)).toEqual([
      `${'x'.repeat(8)}_2`,
      'x'.repeat(10),
    ]);
  });

  for (const [name, isThere, open] of databases) {
    test.skipIf(!isThere)(
      `take a column of 60 characters, and are said before: ${name}`,
      async () => {
        const place = await open();
        const column = 'e'.repeat(60);
        await place.ask(
          `CREATE TABLE ${place.table} (id INTEGER PRIMARY KEY, ${column} VARCHAR(80))`,
          `INSERT INTO ${place.table} VALUES (1, 'good1@sluice.test')`,
        );
        const verifying = await startVerifying();
        const said: string[] = [];
        const run = {
          source: place.source(`SELECT id, ${column} FROM ${place.table}`),
          sink: place.sink({ key: 'id' }),
          email: [column],
          onProgress: (progress: { readonly stage: string; readonly message?: unknown }) => {
            if (progress.stage === 'notice') said.push(String(progress.message));
            // Nothing is sent yet.
            if (progress.stage === 'batch') said.push('sent');
          },
        };
        await verifying.run(run);
        // The same names are there the next night.
        await verifying.run(run);
        const [row = {}] = await place.ask(`SELECT * FROM ${place.table}`);
        expect(Object.keys(row)).toHaveLength(14);
        const valid = Object.keys(row).filter((each) => each.endsWith('_valid'));
        expect(valid).toHaveLength(1);
        const isCut = name === 'PostgreSQL' || name === 'MariaDB';
        const longest = Math.max(...Object.keys(row).map((each) => each.length));
        if (isCut) expect(longest).toBe(name === 'PostgreSQL' ? 63 : 64);
        if (isCut) expect(said[0]).toContain(`"${column}_valid" is "${valid[0] ?? ''}"`);
        else expect(said[0]).toBe('sent');
      },
    );
  }
});
