import { beforeAll, describe, expect, it } from 'vitest';
import { phoneLine } from '../../src/engine/addresses/phone/phone-line.js';
import { parseJsonRow } from '../../src/lists/jsonl/parse-json-row.js';
import { meaningOf } from '../../src/lists/xlsx/number-format.js';
import { parseGlob } from '../../src/lists/files/find-files.js';
import { readPhone } from '../../src/service/verification/judge-phone.js';
import { readPlainNumber } from '../../src/service/verification/phone-plan.js';
import { findExpressions, type SourceExpressions } from './source-expressions.js';

/** The larger of the two sizes that are compared, in characters, and the smaller. */
const sizes = { large: 16_384, small: 2048 } as const;
/** Work that is over sooner is not worth a second look, whatever its growth. */
const leastMs = 30;
/** Eight times the size takes eight times as long, or sixty-four times where it is quadratic. */
const mostGrowth = 24;

/** The shortest of some times that this process itself worked: on a busy machine it waits for its turn. */
function shortest(run: () => void): number {
  let best = Infinity;
  for (let time = 0; time < 3; time += 1) {
    const begun = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(begun);
    best = Math.min(best, (user + system) / 1000);
    if (best < leastMs / mostGrowth) break;
  }
  return best;
}

/** Whether work grows faster than the text that it is done on. */
function growsTooFast(work: (characters: number) => () => void): boolean {
  const large = shortest(work(sizes.large));
  return large >= leastMs && large / shortest(work(sizes.small)) > mostGrowth;
}

let found: SourceExpressions;

beforeAll(async () => {
  found = await findExpressions();
});

/** What texts are made of that make expressions go back and forth, whatever these look for. */
const always = ['a', 'A', '0', ' ', '\t', '\n', '"', '\\', '[', '/', '%', '_', '-', '.', 'é', '👍'];

/** Texts whose repetition an expression may take for many things: its own characters and words. */
function pumpsOf(source: string): readonly string[] {
  const words = source.match(/[A-Za-z][A-Za-z ]+/g) ?? [];
  const characters = source.match(/[^\\]/gu) ?? [];
  return [...new Set([...always, ...characters, ...words, ...words.map((word) => `${word} `)])];
}

function isSlow(expression: RegExp, pump: string): boolean {
  return growsTooFast((characters) => {
    // What fits at the beginning must not end as the expression would have it.
    const text = `${pump.repeat(characters / pump.length)}\0${pump}\n${pump}\0`;
    return () => void text.replace(expression, '');
  });
}

describe('every regular expression of src/', () => {
  it('takes time as its text is long, whatever is repeated in it', () => {
    const slow = found.literals.flatMap(({ at, source, flags }) => {
      const expression = new RegExp(source, flags);
      const pump = pumpsOf(source).find((each) => isSlow(expression, each));
      return pump === undefined ? [] : [`${at} /${source}/ with ${JSON.stringify(pump)}`];
    });
    expect(found.literals.length).toBeGreaterThan(100);
    expect(slow).toEqual([]);
  });

  it.each([
    [/0+$/, '0'],
    [/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, '['],
    [/[eE].*$/, 'e'],
  ])('would be found if it did not: %s', (expression, pump) => {
    expect(isSlow(expression, pump)).toBe(true);
  });

  it('is written there, but for numbering plans of the metadata, and names in a query that the user wrote', () => {
    expect(found.makers).toEqual([
      'src/cli/endpoints/query.ts',
      'src/engine/addresses/phone/phone-metadata.ts',
      'src/lists/sql/query-source.ts',
      'src/service/verification/phone-plan.ts',
    ]);
  });
});

describe('texts from outside take time as they are long:', () => {
  it.each<[string, (characters: number) => () => void]>([
    ['zeros of a JSON number', (n) => jsonNumber(`1${'0'.repeat(n)}1`)],
    ['digits of a JSON number', (n) => jsonNumber('7'.repeat(n))],
    ['a fraction of a JSON number', (n) => jsonNumber(`0.${'0'.repeat(n)}1`)],
    ['numbers of a JSON row', (n) => jsonNumber(`[${'1,'.repeat(n / 2)}12345678901234567]`)],
    ['letters e of a JSON text', (n) => jsonNumber(`"${'e'.repeat(n)}", "b": 12345678901234567`)],
    [
      'escapes of a JSON text',
      (n) => jsonNumber(`"${'\\"'.repeat(n / 2)}", "b": 12345678901234567`),
    ],
    ['stars of a pattern', (n) => () => void parseGlob('*a'.repeat(40)).matches('a'.repeat(n))],
    [
      'folders of a pattern',
      (n) => () => void parseGlob('**/a/'.repeat(40)).matches('a/'.repeat(n / 2)),
    ],
    ['brackets of a pattern', (n) => () => void parseGlob('['.repeat(n))],
    ['brackets of a number format', (n) => () => void meaningOf('['.repeat(n))],
    ['quotes of a number format', (n) => () => void meaningOf('"'.repeat(n))],
    ['brackets of a number format, once for each style', (n) => manyStyles('['.repeat(n), n)],
    ['digits of a phone number', (n) => () => void phoneLine('1'.repeat(n), 'US')],
    ['zeros of a phone number', (n) => () => void phoneLine(`00${'0'.repeat(n)}`, 'BR')],
    ['brackets of a phone number', (n) => () => void phoneLine('('.repeat(n), 'DE')],
    ['digits of a phone number that is judged', (n) => () => void readPhone('1'.repeat(n), 'US')],
    ['digits of a number of the plan', (n) => () => void readPlainNumber(`+${'1'.repeat(n)}`)],
  ])('%s', (_what, work) => {
    expect(growsTooFast(work)).toBe(false);
  });
});

function jsonNumber(value: string): () => void {
  const line = Buffer.from(`{"a": ${value}}`);
  return () => void parseJsonRow(line, { name: 'a list', line: 1 });
}

/** A workbook may name one long format in each of its styles. */
function manyStyles(code: string, styles: number): () => void {
  return () => {
    for (let style = 0; style < styles; style += 1) meaningOf(code);
  };
}
