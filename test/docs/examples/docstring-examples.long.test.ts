import { beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../src/contract/operations.js';
import { exportedNames, runExample, wrongTypes, type ExportedName } from './docstring-examples.js';

/** Their examples need a server, or a driver: they run beside the tests of these. */
const elsewhere = /^sluice\/(s3|postgres|mysql|sqlite|duckdb)$/;

let names: readonly ExportedName[];
beforeAll(async () => {
  names = await exportedNames();
}, 120_000);

describe('the examples of docstrings', () => {
  it('are there for every function and every class that is exported', () => {
    const without = names.filter(({ isCallable, examples }) => isCallable && examples.length === 0);
    expect(without.map(({ entry, name }) => `${name} of ${entry}`)).toEqual([]);
    expect(names.filter(({ isCallable }) => isCallable).length).toBeGreaterThan(80);
  });

  it('are there for every operation of the client', () => {
    const all = new Set(names.map(({ name }) => name));
    const wanted = Object.keys(operations).map((operation) => `Client.${operation}`);
    expect(wanted.filter((name) => !all.has(name))).toEqual([]);
  });

  it('compile as they stand', () => {
    expect(wrongTypes(names.flatMap(({ examples }) => examples))).toEqual([]);
  }, 120_000);

  it('run, and print what their comments say', async () => {
    const here = names.filter(({ entry }) => !elsewhere.test(entry));
    for (const { entry, name, examples } of here) {
      for (const code of examples) {
        await runExample(code).catch((cause: unknown) => {
          throw new Error(`the example of ${name} in ${entry} fails: ${String(cause)}`, { cause });
        });
      }
    }
  }, 120_000);
});
