import { beforeAll, describe, expect, it } from 'vitest';
import { createProgram, troubles } from '../docs/source-types.js';

const declared = `
import { rowsSink, run, streamRun, verify, type Client } from 'sluice';
interface Contact { id: number; email: string; mobile: string | null }
declare const client: Client;
declare const source: Contact[];
const sink = 'out.csv';
`;

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
];

describe('the compiler', () => {
  let said: readonly (readonly string[])[];

  beforeAll(() => {
    const modules = mistakes.map(
      ([code], at) => [`mistake-${at}.ts`, `${declared}${code}`] as const,
    );
    const program = createProgram(new Map(modules));
    said = modules.map(([name]) => troubles(program, name));
  }, 300_000);

  it.each(mistakes.map(([code, words], at) => [code, words, at] as const))(
    'names what is wrong: %s',
    (_, words, at) => {
      expect(said[at]?.join('\n')).toContain(words);
      expect(said[at]?.join('\n')).not.toContain('"AE"');
    },
  );
});
