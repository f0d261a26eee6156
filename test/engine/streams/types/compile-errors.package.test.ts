import { beforeAll, describe, expect, it } from 'vitest';
import { allPages } from '../../../docs/page.js';
import { createProgram, shownTypes, troubles } from '../../../docs/source-types.js';

const declared = `
import { rowsSink, run, streamRun, verify, verifyRows, type Client } from 'sluice';
interface Contact { id: number; email: string; mobile: string | null }
declare const client: Client;
declare const source: Contact[];
const sink = 'out.csv';
const wrong: number = 5;
`;

const columns = `{ client, email: ['email'], country: 'US', columns: ['valid', 'result'] }`;

/** Calls, and what an editor shows of what they give. */
const calls = [
  [
    `verify<Contact>()(${columns})`,
    /^RowStream<Contact, \{ id: number; email: string; mobile: string \| null; readonly email_valid: boolean \| null; readonly email_result: Open<[^>]*> \| null; \}>$/,
  ],
  [
    `verify(${columns})`,
    /^RowStream<Row, \{ readonly \[x: string\]: unknown; readonly email_valid: boolean \| null; readonly email_result: Open<[^>]*> \| null; \}>$/,
  ],
  [
    `verifyRows(source, ${columns})`,
    /^AsyncIterable<\{ id: number; email: string; mobile: string \| null; readonly email_valid: boolean \| null; readonly email_result: Open<[^>]*> \| null; \}/,
  ],
] as const;

/** What a programmer forgets or misspells, and what the compiler has to say. */
const mistakes: readonly (readonly [string, string])[] = [
  [`verify({ client, email: ['email'] });`, `Property 'country' is missing`],
  [`verify({ client, phone: ['mobile'] });`, `Property 'country' is missing`],
  [
    `verify({ client, email: ['email'], country: undefined });`,
    `country: undefined; }' is not assignable`,
  ],
  [`verify({ client, email: undefined, country: 'US' });`, `country: "US"; }' is not assignable`],
  [
    `verify<Contact>({ client, email: ['email'], country: 'US' });`,
    `"write verify<Row>()(options), with a call for the type of the rows alone"`,
  ],
  [`verify({ client, country: 'US' });`, `Property 'email' is missing`],
  [
    `verify({ client, email: ['email'], country: 'XX' });`,
    `"XX is not a country code of the service"`,
  ],
  [`verify({ client, email: [], country: 'US' });`, `"name one column at least"`],
  [`verify<Contact>()({ client, email: ['email'] });`, `Property 'country' is missing`],
  [`verify<Contact>()({ client, country: 'US' });`, `Property 'email' is missing`],
  [
    `verify<Contact>()({ client, email: ['email'], countryColumn: 'contry' });`,
    `'"contry"' is not assignable to type '"email" | "mobile"`,
  ],
  [
    `verify<Contact>()({ client, phone: ['mobile'], countryFrom: 'moblie' });`,
    `'"moblie"' is not assignable to type '"email" | "mobile"`,
  ],
  [
    `verify({ client, country: 'US', email: ['email'], prefix: { emial: 'x' } });`,
    `"emial is not verified"`,
  ],
  [`void run({ client, source, sink, email: ['email'] });`, `Property 'country' is missing`],
  [`void run({ client, source, sink, phone: ['mobile'] });`, `Property 'country' is missing`],
  [`void run({ client, source, sink, country: 'US' });`, `Property 'email' is missing`],
  [
    `void run({ client, source, sink, country: 'US', email: ['emial'] });`,
    `'"emial"' is not assignable to type 'NameOf<"email" | "mobile">'`,
  ],
  [
    `void run({ client, source, sink: rowsSink(() => {}), country: 'US', email: ['email'] });`,
    `Property 'stateDir' is missing`,
  ],
  [`void streamRun({ client, source, sink, email: ['email'] });`, `Property 'country' is missing`],
  [
    `verify({ client, email: wrong, country: 'US' });`,
    `Type 'number' is not assignable to type 'readonly string[]'.`,
  ],
  [
    `verify<Contact>()({ client, email: 'email', country: 'US' });`,
    `Type 'string' is not assignable to type 'readonly ("email" | "mobile")[]'.`,
  ],
  [
    `verifyRows(source, { client, email: wrong, country: 'US' });`,
    `Type 'number' is not assignable to type 'readonly ("email" | "mobile")[]'.`,
  ],
  [
    `void run({ client, source: 'a.csv', sink, email: wrong, country: 'US' });`,
    `Type 'number' is not assignable to type 'readonly string[]'.`,
  ],
  [
    `verifyRows(source, { client, email: ['email'], country: wrong });`,
    `Type 'number' is not assignable to type 'CountryCodeOrName | undefined'.`,
  ],
  [
    `verify({ client, email: ['email'], country: 'US', prefix: { email: wrong } });`,
    `Type 'number' is not assignable to type 'string'.`,
  ],
  [
    `verify({ client, email: ['email'], country: 'US', columns: 'valid' });`,
    `Type 'string' is not assignable to type 'readonly ("`,
  ],
  [
    `export const clean = <R extends { email: string }>(rows: AsyncIterable<R>) =>
      verifyRows(rows, { client, email: ['email'], country: 'US' });`,
    `columns of a generic type are unknown: verify { email: row.email, row }`,
  ],
  [
    `export const clean = <R extends object>() =>
      verify<R>()({ client, email: ['email'], country: 'US' });`,
    `columns of a generic type are unknown: verify { email: row.email, row }`,
  ],
];

/** What programmers copy: in the same program, as the compiler's first look at the sources takes most of its time. */
const blocks = allPages().flatMap((page) =>
  page.blocks('ts').map(({ text, line }) => ({
    where: `${page.path}, line ${line}`,
    module: `${page.path.replaceAll('/', '-')}-${line}.ts`,
    text,
  })),
);

describe('the compiler', () => {
  /** By mistake, and by the order of types: as TypeScript finds them, and by name as from version 7 on. */
  let reported: readonly (readonly string[])[];
  let shown: readonly string[];
  let ofPages: ReadonlyMap<string, readonly string[]>;

  beforeAll(() => {
    const modules = mistakes.map(
      ([code], at) => [`mistake-${at}.ts`, `${declared}${code}`] as const,
    );
    const given = calls.map(([call], at) => `const given${at} = ${call};`).join('\n');
    const texts = new Map([...modules, ['calls.ts', declared + given]]);
    const pages = blocks.map(({ module, text }) => [module, text] as const);
    const found = createProgram(new Map([...texts, ...pages]));
    const byName = createProgram(texts, { stableTypeOrdering: true });
    ofPages = new Map(blocks.map(({ module }) => [module, troubles(found, module)]));
    shown = shownTypes(found, 'calls.ts').slice(2);
    reported = modules.map(([name]) =>
      [found, byName].map((program) => troubles(program, name).join('\n')),
    );
  }, 300_000);

  it.each(calls.map(([code, type], at) => [code, type, at] as const))(
    'shows the columns of the rows, and no other: %s',
    (_, type, at) => {
      expect(shown[at]).toMatch(type);
    },
  );

  it.each(mistakes.map(([code, words], at) => [code, words, at] as const))(
    'names what is wrong: %s',
    (_, words, at) => {
      for (const said of reported[at] ?? []) {
        expect(said).toContain(words);
        expect(said).not.toContain('"AE"');
      }
    },
  );

  it.each(blocks)('takes the TypeScript of the pages as it is: $where', ({ module }) => {
    expect(ofPages.get(module)).toEqual([]);
  });

  it('finds some on the pages', () => {
    expect(blocks.length).toBeGreaterThan(5);
  });
});
