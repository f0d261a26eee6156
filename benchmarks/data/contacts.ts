import { cachedFile } from './cached-file.js';
import { personOf } from './people.js';
import { Random } from './random.js';

/** A list of contacts: how many rows, and how many different people are in them. */
export interface ContactsSize {
  readonly rows: number;
  readonly unique: number;
}

const seed = 20_261_121;

export const contactColumns = [
  'id',
  'first_name',
  'last_name',
  'company',
  'email',
  'mobile',
  'city',
  'country',
] as const;

/** A list in which 5 % of the rows repeat an address of an earlier one. */
export function usualContacts(rows: number): ContactsSize {
  return { rows, unique: Math.round(rows * 0.95) };
}

/**
 * The CSV file of a list: 8 columns, about 108 bytes a row, an eighth of the cells quoted.
 *
 * @returns its path
 */
export async function contactsFile(size: ContactsSize): Promise<string> {
  return cachedFile(`people-${size.rows}-${size.unique}.csv`, () => contactLines(size));
}

/** Which person each row is about: a person seen for the first time has the next number. */
function* peopleOf({ rows, unique }: ContactsSize): Generator<{ n: number; isRepeat: boolean }> {
  const random = new Random(seed);
  let seen = 0;
  for (let row = 0; row < rows; row += 1) {
    // As many new ones as asked for come out exactly, spread over the rows.
    const isNew = seen === 0 || random.next() * (rows - row) < unique - seen;
    yield isNew ? { n: seen, isRepeat: false } : { n: random.below(seen), isRepeat: true };
    if (isNew) seen += 1;
  }
}

/** The cells of the rows, a repeated email now and then in other spelling. */
export function* contactRows(size: ContactsSize): Generator<readonly string[]> {
  let id = 1_000_000;
  for (const { n, isRepeat } of peopleOf(size)) {
    const person = personOf(n);
    const email = isRepeat && id % 2 === 0 ? capitalised(person.email) : person.email;
    const { firstName, lastName, company, phone, city, country } = person;
    yield [String(id), firstName, lastName, company, email, phone, city, country];
    id += 1;
  }
}

function* contactLines(size: ContactsSize): Generator<string> {
  yield `${contactColumns.join(',')}\n`;
  for (const [id, first, last, company = '', ...rest] of contactRows(size)) {
    yield `${id},${first},${last},"${company.replaceAll('"', '""')}",${rest.join(',')}\n`;
  }
}

function capitalised(email: string): string {
  return email.slice(0, 1).toUpperCase() + email.slice(1);
}
