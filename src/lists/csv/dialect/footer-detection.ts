import { printValue } from '../../rows/values/print-value.js';
import { withoutLast } from './find-dialect.js';
import { isAddress, isNumber, isSurelyContact } from './find-header-row.js';

/**
 * What a row near the end may be: white space only; text that only a footer has (a total, a copyright); a
 * total's word without a figure, or another single text, which may belong to a footer beside such a row; a line
 * is such a text that no other cell follows, not even an empty one.
 */
export type FooterKind = 'blank' | 'marked' | 'total' | 'text' | 'line';

const totals: ReadonlySet<string> = new Set(
  'total|totals|grand total|sum|summe|gesamt|gesamtsumme|gesamtergebnis|endsumme|insgesamt|ergebnis|total general|total général|totaux|totale|totali|suma|totales|totaal|eindtotaal|soma|totais|summa|celkem|count|average|avg|anzahl|durchschnitt|mittelwert|nombre|moyenne|gemiddelde|aantal|średnia|liczba|promedio|razem|totalt|antal|i alt|yhteensä|összesen|toplam|итого|всего|合計|总计|總計|합계'.split(
    '|',
  ),
);
const things: ReadonlySet<string> = new Set(
  'record|records|row|rows|contact|contacts|lead|leads|entries|member|members|subscriber|subscribers|result|results|item|items|datensätz|datensätze|zeile|zeilen|eintrag|einträg|einträge|kontakt|kontakte|ligne|lignes|enregistrement|enregistrements|registro|registros|fila|filas|righe|rijen|contacto|contactos|contatos|contatti|contacten|linha|linhas|wierszy|rekordów|kontaktów|rader|rækker|kontakter|riviä|záznamů|kayıt|записей|строк|контактов|件|行|条'.split(
    '|',
  ),
);
const afterThings: ReadonlySet<string> = new Set([
  '',
  'found',
  'in set',
  'in total',
  'total',
  'selected',
  'exported',
  'returned',
  'gefunden',
  'insgesamt',
  'trouvés',
  'trouvées',
  'encontrados',
  'trovati',
  'gevonden',
]);
const inFront = /^(?:grand|overall|report) /;
const figure = /^\d[\d.,' ]*/;

/** `Number of`, in front of what is counted. */
const numberOf =
  /^(?:number of|anzahl de[rs]|nombre (?:total )?d[eu]|n[uú]mero (?:total )?d[ei]|total d[ei]|aantal) /u;

/** `grand total`, `total records`, `number of rows`: lower case words, and nothing else. */
function isTotal(given: string): boolean {
  const words = given.replace(numberOf, 'total ');
  const named = (text: string) => totals.has(text) || totals.has(text.replace(inFront, ''));
  const [last = '', ...before] = words.split(' ').toReversed();
  return named(words) || (things.has(last) && named(before.toReversed().join(' ')));
}

/** A word for a total, alone in its cell: a total beside amounts. */
function isTotalAlone(text: string): boolean {
  return isTotal(withoutLast(text, ':').trimEnd());
}

/** A total with its figure in the same cell: `Grand Totals (123 records)`, `Summe: 12`. */
function isTotalWithFigure(text: string): boolean {
  const at = text.search(/\d/);
  if (at === -1) return false;
  const words = withoutLast(text.slice(0, at).trimEnd(), ':=(').trimEnd();
  const behind = withoutLast(text.slice(at), '.)').replace(figure, '').trim();
  return isTotal(words) && (behind === '' || things.has(behind));
}

/** `(123 rows)`, `123 records exported`. */
function isFigureOfRows(text: string): boolean {
  const bare = withoutLast(text.replace(/^[-*( ]+/, ''), '-*). ');
  const [counted = ''] = figure.exec(bare) ?? [];
  const [thing = '', ...more] = bare.slice(counted.length).split(' ');
  const rest = more.join(' ');
  const isAfter = afterThings.has(rest) || exportedBy.test(rest);
  return counted.endsWith(' ') && things.has(thing) && isAfter;
}

/** `exported on 2026-11-28 by …`, behind a number of rows. */
const exportedBy =
  /^(?:exported|exportiert|exporté(?:e?s)?|exportad[ao]s?|esportat[aeio])(?:$| (?:by|on|at|from|am|von|vom|par|le|el|por|il|da)\b)/u;

/** Ctrl-Z, with which programs of DOS end a text, perhaps as often as fills its last block. */
// oxlint-disable-next-line no-control-regex -- That is what it looks for.
const endOfDosFile = /^\u001a+$/;

const notices = [
  /^(?:copyright\b|©|\(c\) ).*(?:©|\(c\)|\b(?:19|20)\d\d\b)/iu,
  /^confidential(?: information)?\s*[-–—:.]/iu,
  /\ball rights reserved\b|\balle rechte vorbehalten\b|\btous droits réservés\b/iu,
  /^(?:report |list |file )?(?:generated|exported|printed|erstellt|exportiert|gedruckt|généré|exporté)(?: (?:by|on|at|from|am|von|par|le)\b|:)/iu,
  /^[-*= ]*(?:end of (?:report|file|list|export)|ende (?:des berichts|der liste))\b/iu,
];

/**
 * The kind of a row without anything that could be an address.
 *
 * @param width number of the list's columns
 * @returns `undefined` for a row that surely does not belong to a footer
 */
export function footerKindOf(cells: readonly unknown[], width: number): FooterKind | undefined {
  const texts = cells.map((cell) => (printValue(cell) ?? '').trim());
  const [first, ...others] = texts.filter((text) => text !== '');
  if (first === undefined) return 'blank';
  if (texts.some((text) => text.includes('@') || isSurelyContact(text))) return undefined;
  if (notices.some((notice) => notice.test(first)) && !others.some(isNumber)) return 'marked';
  const lower = first.toLowerCase().replaceAll(/\s/g, ' ');
  if (others.length === 0) {
    if (endOfDosFile.test(first)) return 'marked';
    if (isTotalWithFigure(lower) || isFigureOfRows(lower)) return 'marked';
    const isAlone = width > 1 && texts[0] === first && !isAddress(first) && !isNumber(first);
    if (!isAlone) return undefined;
    return isTotalAlone(lower) ? 'total' : cells.length === 1 ? 'line' : 'text';
  }
  const isOfAmounts = isTotalAlone(lower) || isTotalWithFigure(lower);
  // Salesforce writes `Total`, `Count` and the figure side by side.
  const amounts = others.filter((text) => !isTotalAlone(text.toLowerCase()));
  // `Suma` is a person too, `Total` a company, and seven digits a number to dial.
  const isName = isTotal(lower);
  const isAmountOrCount = (text: string) =>
    (isAmount(text) && !(isName && /^\d{7}$/.test(text))) || isFigureOfRows(text.toLowerCase());
  return isOfAmounts && amounts.length > 0 && amounts.every(isAmountOrCount) ? 'marked' : undefined;
}

/** A sum or a count, not a number to dial, which has more digits: `1,234.50 €`, `97 %`, `1234567`. */
function isAmount(text: string): boolean {
  const number = text
    .replace(/^[$€£]\s*/u, '')
    .replace(/(?:[$€£%]|[A-Z]{3})$/u, '')
    .trimEnd();
  return (
    /^-?(?:\d{1,4}(?:[.,]\d+)?|[1-9]\d{4,6})$/.test(number) ||
    /^-?[1-9]\d{0,2}(?:[.,'’\u00a0\u202f]\d{3})+(?:[.,]\d+)?$/.test(number) ||
    /^-?[1-9]\d*[.,]\d{1,2}$/.test(number)
  );
}

/**
 * Finds the start of a footer among the last rows of a list. A marked row begins one; words of a total above
 * it belong to it, single texts if a blank row precedes them, and a line between blank rows, as the name of a
 * report. Blank rows alone are data.
 *
 * @param kinds of the last rows that may belong to it, up to the end of the list
 * @returns how many of these rows are data
 */
export function findFooter(kinds: readonly FooterKind[]): number {
  const above = (from: number, ...which: readonly FooterKind[]): number => {
    let at = from;
    while (isOneOf(kinds[at - 1], ...which)) at -= 1;
    return at;
  };
  let start = kinds.indexOf('marked');
  if (start === -1) return kinds.length;
  const texts = above(start, 'text', 'line', 'total');
  if (kinds[texts - 1] === 'blank') start = texts;
  start = above(start, 'blank', 'total');
  if (kinds[start - 1] === 'line' && kinds[start - 2] === 'blank')
    start = above(start - 1, 'blank');
  return start;
}

function isOneOf(kind: FooterKind | undefined, ...kinds: readonly FooterKind[]): boolean {
  return kind !== undefined && kinds.includes(kind);
}
