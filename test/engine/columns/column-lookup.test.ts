import { expect, it } from 'vitest';
import { closestColumn, findColumn } from '../../../src/engine/columns/column-lookup.js';

it.each([
  // A name that has the word in it is meant, however near another is.
  ['Mail', ['Kundennr.', 'E-Mail-Adresse', 'Mobil'], 'E-Mail-Adresse'],
  ['Mail', ['E-mail 1 - Label', 'E-mail 1 - Value'], 'E-mail 1 - Value'],
  ['emial', ['id', 'email'], 'email'],
  ['email address', ['id', 'email'], 'email'],
  ['Contry', ['County', 'Email'], 'County'],
  ['Contry', ['Email', 'Phone', 'Country/Region'], 'Country/Region'],
  ['xy', ['taxyear', 'id'], undefined],
  ['fax', ['id', 'name'], undefined],
])('finds for %j among %j the column %j', (given, header, meant) => {
  expect(closestColumn(header, given)).toBe(meant);
});

it('says that a header without a name is a blank line', () => {
  expect(() => findColumn(['', ' '], 'email')).toThrow(
    expect.objectContaining({ option: 'skipRows', column: 'email', fault: 'blank_header' }),
  );
});

it('names of a wide list the columns most like the one that it lacks', () => {
  const wide = Array.from({ length: 300 }, (_, at) => `field_${at}_of_the_form`);
  const find = (): unknown => findColumn([...wide, 'contact_mial'], 'contakt_mail_x');
  expect(find).toThrow(expect.objectContaining({ code: 'column_not_found' }));
  expect(find).toThrow(/contact_mial/);
  expect(find).toThrow(/^.{1,800}\b281\b/);
});
