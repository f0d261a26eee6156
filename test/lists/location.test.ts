import { expect, it } from 'vitest';
import { parseLocation, showLocation } from '../../src/lists/location.js';

const shown: readonly (readonly [name: string, shown: string])[] = [
  ['list.csv', 'list.csv'],
  ['sqlite:crm.db', 'sqlite:crm.db'],
  ['postgres://db.example.com/crm', 'postgres://db.example.com/crm'],
  ['postgres://ada:secret@db.example.com:5433/crm', 'postgres://…@db.example.com:5433/crm'],
  ['mysql://ada@db/crm?password=secret', 'mysql://…@db/crm?…'],
  ['postgresql:///crm?host=/run/pg&password=secret', 'postgresql://…'],
  ['https://lists.example.com/secret/list.csv?key=secret', 'https://lists.example.com/…'],
  ['s3://leads/list.csv', 's3://leads/…'],
  [
    "FROM read_csv('https://a.example/l.csv?sig=secret') JOIN 's3://k:secret@b/l.csv'",
    "FROM read_csv('https://…') JOIN 's3://…'",
  ],
  // Passwords that are not encoded.
  ['postgres://ada:12/secret@db/crm', 'postgres://…'],
  ['postgres://ada:12#secret@db/crm', 'postgres://…'],
  ['postgres://ada:a@secret/b@db/crm', 'postgres://…'],
  ['postgres://ada:se cret:@@db/crm', 'postgres://…'],
];

it.each(shown)('shows %s without what may be a secret', (name, expected) => {
  expect(showLocation(name)).toBe(expected);
});

it.each(['https:/a.example/list.csv?sig=secret', 'postgres:/ada:secret@db/crm'])(
  'takes a URL that lacks a slash for no path, and does not repeat it: %s',
  (name) => {
    const refused = expect.objectContaining({ code: 'invalid_option', fault: 'unsupported' });
    expect(() => parseLocation(name)).toThrow(refused as Error);
    expect(() => parseLocation(name)).not.toThrow(/secret/);
    expect(parseLocation('https://a.example/l.csv')).toMatchObject({ kind: 'web' });
    expect(parseLocation('s3:list.csv')).toEqual({ kind: 'file', path: 's3:list.csv' });
  },
);
