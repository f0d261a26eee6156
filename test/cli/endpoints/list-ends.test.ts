import { expect, it } from 'vitest';
import { locationOf } from '../../../src/cli/endpoints/locations.js';
import { parseCommandLine } from '../../../src/cli/options/parse-command-line.js';
import { verifyCommand } from '../../../src/cli/commands/verify.js';
import { refuseAllColumns } from '../../../src/cli/endpoints/list-ends.js';
import { tableOfQuery } from '../../../src/cli/endpoints/query.js';
import { inPlace } from '../../../src/cli/guide/find-table.js';
import { calledHere } from '../harness/called-here.js';

const url = 'postgres://db.example/crm';

function check(query: string, into = 'crm.contacts', from = url, more: readonly string[] = []) {
  const args = [from, '-o', url, '--query', query, '--into', into, ...more];
  const { options } = parseCommandLine(verifyCommand, args, calledHere);
  refuseAllColumns([locationOf(from, calledHere)], locationOf(url, calledHere), options);
}

it.each([
  'select * from crm.contacts',
  'SELECT *\nFROM contacts c WHERE email IS NOT NULL;',
  'select c.* from "crm"."contacts" c',
  'select id, * from (select 1) as one, contacts',
])('refuses all columns of the table that is written to: %s', (query) => {
  expect(() => {
    check(query);
  }).toThrow(expect.objectContaining({ code: 'invalid_option', option: '--query' }));
});

it('names the query that reads what the run needs', () => {
  const named = ['--key', 'id', '--email', 'E-Mail', '--country-column', 'country'];
  const query = "select * from crm.contacts where note <> 'x'";
  expect(() => {
    check(query, undefined, undefined, named);
  }).toThrow(
    `--query 'select "id", "E-Mail", "country" from crm.contacts where note <> '\\''x'\\'''`,
  );
});

it.each([
  ['select id, email from crm.contacts'],
  ['select id, email, price * 2 from crm.contacts'],
  ['select count(*) as n from crm.contacts'],
  ['select id, email from (select * from crm.contacts) as all_of_them'],
  ['select * from crm.contacts', 'crm.contacts_verified'],
  ['select * from crm.contacts', 'crm.contacts', 'postgres://other.example/crm'],
])('takes another query, table or database: %s', (...given: [string, string?, string?]) => {
  expect(() => {
    check(...given);
  }).not.toThrow();
});

const tables = [
  ['', 'Leads', 'Leads'],
  ['', 'contacts', 'contacts'],
  ['', 'contacts archive', 'contacts archive'],
  ['', 'leads', 'leads'],
  ['sales', 'contacts', 'sales.contacts'],
].map(([schema = '', table = '', name = '']) => {
  const columns = ['id', 'Id', 'parent', 'email'];
  return { kind: 'postgres' as const, schema, table, name, columns, key: ['id'] };
});

it.each([
  ['select * from contacts where id > 3', 'contacts'],
  ['select * from public.contacts', 'contacts'],
  ['SELECT * FROM Sales.Contacts', 'sales.contacts'],
  ['select * from other.contacts'],
  ['select * from crm.sales.contacts'],
  ['select * from "contacts archive"', 'contacts archive'],
  ['select * from Leads', 'leads'],
  ['select * from "Leads"', 'Leads'],
])('finds the very table of a query, as another would be written to: %s', (query, name?) => {
  expect(tableOfQuery(query, tables)?.name).toBe(name);
});

it.each<[string, boolean, ...string[]]>([
  ['select ID, "email" from contacts where id > 3', true],
  // The key of another row, twice, none, that of no row, and a column of another query.
  ['select "Id", email from contacts', false],
  ['select parent as id, email from contacts', false],
  ['select email from contacts where id > 3', false],
  ['select id + 1 as id, email from contacts', false],
  ['select * from contacts', false, '--email', '#3'],
])('proposes to verify in place what has the key of its rows: %s', (query, isProposed, ...more) => {
  const args = [url, '--query', query, '--email', 'email', ...more];
  const input = { ...calledHere, ...parseCommandLine(verifyCommand, args, calledHere) };
  const proposed = inPlace(tableOfQuery(query, tables), input as never, []);
  expect(proposed !== undefined).toBe(isProposed);
});

it.each([
  ['email_verification', undefined],
  // Of a person or another service: it would be written over.
  ['email_valid', ['prefix', 'email=email_2']],
])('writes results in place over those of an earlier run alone: %s', (column, prefix) => {
  const table = { ...tables[1], columns: ['id', 'email', column] } as (typeof tables)[0];
  const args = [url, '--query', 'select * from contacts', '--email', 'email'];
  const input = { ...calledHere, ...parseCommandLine(verifyCommand, args, calledHere) };
  const proposed = inPlace(table, input as never, [['prefix', 'email=email_2']]);
  expect(proposed?.find(([name]) => name === 'prefix')).toEqual(prefix);
});
