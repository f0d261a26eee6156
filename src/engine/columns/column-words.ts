import columnWordsText from './column-words.txt';

/** By list: its words. */
const listed = columnWordsText
  .split('\n')
  .filter((line) => !line.startsWith('#'))
  .map((line) => line.split(': '));

function wordsIn(list: string): readonly string[] {
  return listed.flatMap(([name, words = '']) => (name === list ? words.split(', ') : []));
}

type ColumnMeaning = 'email' | 'phone' | 'fax' | 'country';

interface NamedColumn {
  readonly meaning: ColumnMeaning | undefined;
  /** Whether its addresses seem to be those of the list's own staff. */
  readonly isOfStaff: boolean;
  /** Whether its digits are named as something else than a phone. */
  readonly isOtherNumber: boolean;
  /** Whether its cells decide if it holds countries, as its name may mean them. */
  readonly mayBeCountry: boolean;
  /** Whether its letters are named as something else than a country. */
  readonly isOtherCode: boolean;
}

export function readColumnName(name: string): NamedColumn {
  const words = wordsOf(name);
  const joined = words.join('');
  const has = (parts: readonly string[]): boolean => parts.some((part) => joined.includes(part));
  const hasWord = (parts: readonly string[]): boolean => parts.some((part) => words.includes(part));
  const isPhone = has(phoneParts) || hasWord(phoneTokens);
  const isCountry = has(countryParts)
    ? !words.includes('code') || !isPhone
    : hasWord(countryTokens);
  const isOtherCode = hasWord(otherCodes) || has(otherCodeParts);
  return {
    meaning: has(faxParts)
      ? 'fax'
      : has(emailParts) || hasWord(emailTokens)
        ? 'email'
        : isPhone && !hasWord(aboutParts)
          ? 'phone'
          : isCountry
            ? 'country'
            : undefined,
    isOfStaff: has(staffParts),
    isOtherNumber: isPhone ? hasWord(aboutParts) : hasWord(numberParts) || has(longNumberParts),
    mayBeCountry: hasWord(maybeCountryTokens) && !isOtherCode,
    isOtherCode,
  };
}

/** Lower-case words without accents: `E-Mail` is `e`, `mail`, and `eMailAddress` is `e`, `mail`, `address`. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ı', 'i')
    .replaceAll('ł', 'l')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

function partsIn(list: string): readonly string[] {
  return wordsIn(list).map((part) => wordsOf(part).join(''));
}

const emailParts = partsIn('email');
const emailTokens = wordsIn('email word');
const phoneParts = partsIn('phone');
const phoneTokens = wordsIn('phone word');
const faxParts = partsIn('fax');
const staffParts = partsIn('staff');
const aboutParts = partsIn('about a phone word');
const numberParts = partsIn('other number');
/** Long enough not to be part of a word by chance: `Bestellnummer`. */
const longNumberParts = numberParts.filter((part) => part.length > 4 || /[^a-z]/.test(part));
const countryTokens = wordsIn('country word');
/** `land` is part of too many words. */
const countryParts = partsIn('country').filter((part) => !countryTokens.includes(part));
const maybeCountryTokens = wordsIn('maybe country word');
const otherCodes = wordsIn('other code word');
const otherCodeParts = wordsIn('other code');
