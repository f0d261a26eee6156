import { mix } from './random.js';

const firstNames =
  'Marguerite Jonathan Anna Theodore Beatrice Liam Esperanza Maximilian Ruth Oluwaseun Ingrid Christopher Yuki Alexandra Patrick Gwendolyn'.split(
    ' ',
  );
const lastNames =
  'Hutchinson Garcia Fitzgerald Lee Montgomery Okonkwo Schneider Rodriguez Nakamura Kowalski Abernathy Petersen Vandenberg Silva Whitfield Ng'.split(
    ' ',
  );
const cities =
  'San Francisco,Chicago,Boston,Philadelphia,Albuquerque,Portland,Minneapolis,New Orleans'.split(
    ',',
  );
const domains =
  'gmail.com outlook.com yahoo.com northwind-traders.com contoso-industries.com fabrikam.net example-mail.org litware.io proseware-consulting.com mailinator.com adatum.co tailspintoys.com'.split(
    ' ',
  );
/** Geographic area codes of the United States. */
const areaCodes =
  '201 202 203 205 206 207 208 209 210 212 213 214 215 216 217 218 219 224 225 228 229 231 234 239 240 248 251 252 253 254 256 260 262 267 269 270 281 301 302 303 304 305 307 308 309 310 312 313 314 315 316 317 318 319 320 321 323 325 330 334'.split(
    ' ',
  );

export type Country = 'US' | 'GB' | 'DE';
const countries: readonly Country[] = ['US', 'GB', 'DE'];

/** Whose address number `n` is: always the same person for the same number. */
export interface Person {
  readonly firstName: string;
  readonly lastName: string;
  readonly company: string;
  readonly email: string;
  readonly phone: string;
  readonly city: string;
  readonly country: Country;
}

export function personOf(n: number): Person {
  const spread = mix(n + 0x51_0c);
  const firstName = pick(firstNames, spread);
  const lastName = pick(lastNames, spread >>> 4);
  return {
    firstName,
    lastName,
    company: companyOf(lastName, spread),
    email: emailOf(n),
    phone: phoneOf(n),
    city: pick(cities, spread >>> 8),
    country: countryOf(n),
  };
}

/** The n-th email address: some 28 characters, no two alike. */
export function emailOf(n: number): string {
  const spread = mix(n + 0x51_0c);
  const first = pick(firstNames, spread).slice(0, 1 + ((spread >>> 24) % 6));
  const domain = pick(domains, spread >>> 12);
  return `${first}.${pick(lastNames, spread >>> 4)}${n.toString(36)}@${domain}`.toLowerCase();
}

function countryOf(n: number): Country {
  return countries[n % countries.length] ?? 'US';
}

/** The n-th phone number: of its country, national or with its calling code, no two alike. */
function phoneOf(n: number): string {
  const [code, trunk, parts] = numberOf(n);
  switch (mix(n) % 4) {
    case 0:
      return `+${code}${parts.join('')}`;
    case 1:
      return `+${code} ${parts.join(' ')}`;
    case 2:
      return `${trunk}${parts.join('-')}`;
    default:
      return `(${trunk}${parts[0]}) ${parts.slice(1).join(' ')}`;
  }
}

/** Its calling code, what is dialled before it in its country, and its digits in groups. */
function numberOf(n: number): readonly [code: string, trunk: string, parts: readonly string[]] {
  const rest = Math.floor(n / countries.length);
  switch (countryOf(n)) {
    case 'US': {
      const exchange = Math.floor(rest / areaCodes.length);
      const line = String(Math.floor(exchange / 98) % 10_000).padStart(4, '0');
      return ['1', '', [pick(areaCodes, rest), String(412 + (exchange % 98)), line]];
    }
    case 'GB':
      return ['44', '0', [String(7400 + (rest % 50)), ...thousands(Math.floor(rest / 50), 6)]];
    case 'DE':
      return ['49', '0', ['151', ...thousands(10_000_000 + rest, 8)]];
  }
}

function thousands(number: number, digits: number): readonly string[] {
  const text = String(number).padStart(digits, '0');
  return [text.slice(0, 3), text.slice(3)];
}

/** Always quoted when it is written: half have a comma, some a quote or a line break. */
function companyOf(lastName: string, spread: number): string {
  const kind = (spread >>> 16) % 16;
  if (kind === 0) return `The "${lastName}" Group`;
  if (kind === 1 && spread % 4 === 0) return `${lastName} Ltd\nDepartment of Sales`;
  return kind < 9 ? `${lastName}, Cole & Sons` : `${lastName} Holding`;
}

function pick(from: readonly string[], at: number): string {
  return from[(at >>> 0) % from.length] ?? '';
}
