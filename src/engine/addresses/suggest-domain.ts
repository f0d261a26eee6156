import type { CellText } from '../../lists/rows/chunks/row-chunk.js';
import { editDistance } from '../../platform/text/closest-name.js';

/**
 * Providers with distinctive names: a name one typing error away from `gmail` is hardly ever another domain.
 * Short ones and words (`aol`, `live`, `orange`) are one letter from real companies.
 */
const providers: Readonly<Record<string, string>> = {
  gmail: 'com',
  yahoo: 'com co.uk fr de it es ca in co.in co.jp com.br com.au com.mx com.ar',
  hotmail: 'com co.uk fr de it es be nl ca com.br com.ar',
  outlook: 'com fr de it es com.br',
  icloud: 'com',
  googlemail: 'com',
  protonmail: 'com',
  rocketmail: 'com',
  rediffmail: 'com',
  btinternet: 'com',
  't-online': 'de',
  freenet: 'de',
  wanadoo: 'fr',
  laposte: 'net',
  bluewin: 'ch',
  comcast: 'net',
  verizon: 'net',
  sbcglobal: 'net',
  bellsouth: 'net',
  yandex: 'ru',
};
/** For these only the ending is examined. */
const shortNames: Readonly<Record<string, string>> = {
  aol: 'com',
  live: 'com',
  msn: 'com',
  me: 'com',
  mac: 'com',
  mail: 'com',
  gmx: 'com de net at ch',
  ymail: 'com',
  web: 'de',
  orange: 'fr',
  uol: 'com.br',
  bol: 'com.br',
  terra: 'com.br',
};

/** Real domains close to a provider's. */
const others: ReadonlySet<string> = new Set([
  'gail.com',
  'grail.com',
  'hitmail.com',
  'hostmail.com',
]);

/** Typing errors of `com`. None is a top-level domain. */
const brokenEndings: ReadonlySet<string> = new Set(
  'con cpm cim ckm clm cok coj vom xom dom fom comm coom ccom cmo ocm ocom comn como come coim comcom com.com con.com'.split(
    ' ',
  ),
);
/** Last labels that no domain has, as typing errors leave them of `de`, `fr`, `net` and `ch`; so is any of one letter. */
const impossible: ReadonlySet<string> = new Set(['ed', 'rf', 'ent', 'ten', 'hc']);
/** Endings of countries where no provider of the table has mailboxes. */
const cutEndings: ReadonlySet<string> = new Set(['co', 'cm', 'om']);

interface Provider {
  readonly domain: string;
  readonly name: string;
  readonly ending: string;
}

const known: readonly Provider[] = Object.entries(providers).flatMap(([name, endings]) =>
  endings.split(' ').map((ending) => ({ domain: `${name}.${ending}`, name, ending })),
);
const domains: ReadonlySet<string> = new Set(known.map(({ domain }) => domain));
const longestDomain = 24;

/**
 * The domain probably meant where an email's domain is one typing error away from a large provider's;
 * `undefined` otherwise. Conservative: a wrong hint costs more than a missing one.
 *
 * @param cell an email address as written
 */
export function suggestDomain(cell: CellText): string | undefined {
  if (typeof cell !== 'string') return undefined;
  const domain = cell
    .slice(cell.lastIndexOf('@') + 1)
    .trim()
    .toLowerCase();
  const isWanted = cell.includes('@') && domain !== '' && domain.length <= longestDomain;
  if (!isWanted || domains.has(domain) || others.has(domain)) return undefined;
  if (remembered.has(domain)) return remembered.get(domain);
  const meant = withoutDots(domain) ?? misspelt(domain);
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(domain, meant);
  return meant;
}

/** A list has few domains and any number of rows. */
const remembered = new Map<string, string | undefined>();
const mostRemembered = 4096;

/** `gmailcom`, `gmail..com` and `gmail,com`: the dot is missing, doubled or replaced. */
function withoutDots(domain: string): string | undefined {
  if (/^[^.,]+\.[^.,]/.test(domain) && !/[.,]{2}|,|\.$/.test(domain)) return undefined;
  const letters = domain.replaceAll(/[.,]/g, '');
  return known.find((one) => one.domain.replaceAll('.', '') === letters)?.domain;
}

function misspelt(domain: string): string | undefined {
  const dot = domain.indexOf('.');
  if (dot === -1) return undefined;
  const [name, ending] = [domain.slice(0, dot), domain.slice(dot + 1)];
  const isBroken = brokenEndings.has(ending);
  const endings = (providers[name] ?? shortNames[name] ?? '').split(' ');
  if (isBroken && name in shortNames && endings.includes('com')) return `${name}.com`;
  const last = ending.slice(ending.lastIndexOf('.') + 1);
  if (last.length === 1 || impossible.has(last)) {
    const [meant, ...more] = endings.filter((each) => editDistance(ending, each) === 1);
    if (meant !== undefined && more.length === 0) return `${name}.${meant}`;
  }
  return known.find((one) => {
    const isEnding = one.ending === ending || (one.ending === 'com' && isBroken);
    if (one.name === name) return isEnding || (one.ending === 'com' && cutEndings.has(ending));
    return isEnding && isNear(name, one.name);
  })?.domain;
}

/** One error away after the same first letter: errors there make other names (`ymail`, `cloud`). */
function isNear(name: string, provider: string): boolean {
  if (Math.abs(name.length - provider.length) > 1) return false;
  const isFirstKept = name[0] === provider[0];
  const areSwapped = name[0] === provider[1] && name[1] === provider[0];
  if (!isFirstKept && !areSwapped) return false;
  if (editDistance(name, provider) !== 1) return false;
  return provider.length > shortestFree || isSlip(name, provider);
}

/** Shorter names have neighbours that are real names. */
const shortestFree = 5;

/** Whether an error is typical of typing: a letter left out, doubled or swapped, or a neighbouring key. */
function isSlip(name: string, provider: string): boolean {
  if (name.length < provider.length) return true;
  let at = 0;
  while (name[at] === provider[at]) at += 1;
  const typed = name[at] ?? '';
  if (name.length === provider.length) {
    const areSwapped = name[at] === provider[at + 1] && name[at + 1] === provider[at];
    const isRepeated = typed === provider[at - 1] || typed === provider[at + 1];
    return (
      areSwapped || isRepeated || areBeside(typed, provider[at]) || areVowels(typed, provider[at])
    );
  }
  const around = [provider[at - 1], provider[at]];
  return around.some((letter) => letter === typed || areBeside(typed, letter));
}

const keyRows = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
/** How far each row of keys is shifted to the right. */
const offsets = [0, 0.25, 0.75];

function areBeside(typed: string, letter = ''): boolean {
  const [one, other] = [placeOf(typed), placeOf(letter)];
  if (!one || !other || typed === letter) return false;
  return Math.abs(one.row - other.row) <= 1 && Math.abs(one.column - other.column) <= 1;
}

function placeOf(letter: string): { readonly row: number; readonly column: number } | undefined {
  const row = keyRows.findIndex((keys) => letter !== '' && keys.includes(letter));
  if (row === -1) return undefined;
  return { row, column: (keyRows[row]?.indexOf(letter) ?? 0) + (offsets[row] ?? 0) };
}

function areVowels(typed: string, letter = ''): boolean {
  return 'aeiou'.includes(typed) && 'aeiou'.includes(letter);
}
