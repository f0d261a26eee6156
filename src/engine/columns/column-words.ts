/*
 * Words in column names, in the languages of exports. Names are compared without accents, case and
 * separators; a phrase with spaces here consists of whole words.
 */

const emailWords = [
  'email, mailadres, mailadr, mailid',
  'courriel, adresse electronique',
  'correo',
  'posta elettronica, posta el',
  'eposta, epost, sahkoposti',
  'почта, эл адрес, имейл',
  'メール, メアド, eメイル',
  '邮箱, 電郵, 电邮, 邮件, 郵件, 信箱',
  '이메일, 메일',
];
const emailTokens = ['mail', 'mel', 'mejl', 'mails'];

const phoneWords = [
  'phone, mobile, mobil, cellular, whatsapp, msisdn',
  'telefon, telephon, telefoon, telefone, telefono, rufnummer, handy, mobiel',
  'portable, fixe pro',
  'movil, celular, cellulare, telemovel',
  'komork, puhelin',
  'телефон, мобильн, сотов',
  '電話, 携帯, でんわ, tel番号',
  '电话, 手机, 手機, 座机',
  '전화, 휴대폰, 핸드폰',
];
const phoneTokens = [
  'tel',
  'tels',
  'tlf',
  'tfno',
  'fon',
  'cell',
  'cells',
  'cel',
  'gsm',
  'cep',
  'sms',
  'tlfnr',
];

const faxWords = [
  'fax, faks, telex, pager, telecopie, факс, ファックス, ファクス, 传真, 傳真, 팩스',
];

const countryWords = [
  'country, land, laand, pays, pais, paese, nazione, kraj, ulke, maa, страна',
  'landerschlussel, landerkennzeichen, landercode, landerkurzel, landeskennzeichen, landescode',
  '国, 國家, 国家, 국가',
];
// `CC` also means a copy of a letter: cells decide.
const countryTokens = [
  'land',
  'pays',
  'pais',
  'paese',
  'kraj',
  'ulke',
  'maa',
  'iso2',
  'iso3',
  'cc',
];

/** Words of columns whose cells decide whether they hold countries. */
const maybeCountryTokens = 'ctry, cntry, staat, nation, market, markt, marche, mercado, iso'.split(
  ', ',
);

/** Words for contacts of staff: the list's owner has these addresses. */
const staffWords = [
  'owner, created by, modified by, updated by, assigned, assignee, agent, salesperson, sales rep',
  'added by, imported by, account manager, logged by, referrer, recruiter',
  'besitzer, betreuer, bearbeiter, ersteller, zustandig, verantwortlich, angelegt von',
  'proprietaire, cree par, modifie par, propietario, creado por, proprietario, eigenaar, opiekun',
  'ответственн, создал, 所有者, 作成者, 更新者, 所有人, 负责人',
];

/** Words about a phone that is not a number itself. */
const aboutPhone = [
  'type, typ, label, status, id, code, country, ext, extension, durchwahl, date, datum, last, count',
  'consent, opt, optin, verified, valid, time, model, prefix, vorwahl, carrier, operator, permission',
];

/** Columns with digits that are not phones. */
const otherNumbers = [
  'order, bestell, auftrag, commande, pedido, ordine, zamowien, siparis, заказ, 注文, 订单, 訂單',
  'invoice, rechnung, facture, factura, fattura, faktur, 請求, 发票',
  'iban, konto, account, bank, customer, kunde, kunden, client, 顧客番号, 客户编号',
  'zip, postal, postcode, postleit, plz, cap, cep, 郵便, 邮编, индекс',
  'date, datum, fecha, data, created, updated, modified, time, amount, price, total, betrag, summe',
  'vat, ust, tax, steuer, siret, siren, nif, cif, nip, sku, ean, isbn, imei, ticket, tracking',
  'id, uuid, key, code, ref, reference, number, nummer, nr, no, numero',
];

/** Columns with two letters that are not countries. */
const otherCodes =
  'state, states, province, prov, region, kanton, canton, uf, lang, lng, lingua, taal, locale, unit, title'.split(
    ', ',
  );
/** Also within a word: `Korrespondenzsprache`. */
const otherCodeParts =
  'language, sprache, langue, idioma, currency, wahrung, waehrung, bundesland, bundesstaat, provinc, timezone'.split(
    ', ',
  );

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

function partsOf(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(', ')).map((part) => wordsOf(part).join(''));
}

const emailParts = partsOf(emailWords);
const phoneParts = partsOf(phoneWords);
const faxParts = partsOf(faxWords);
const staffParts = partsOf(staffWords);
const aboutParts = partsOf(aboutPhone);
const numberParts = partsOf(otherNumbers);
/** Long enough not to be part of a word by chance: `Bestellnummer`. */
const longNumberParts = numberParts.filter((part) => part.length > 4 || /[^a-z]/.test(part));
/** `land` is part of too many words. */
const countryParts = partsOf(countryWords).filter((part) => !countryTokens.includes(part));
