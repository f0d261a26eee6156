/*
 * What the names of columns say, in the languages that exports are written in. Names are compared without
 * accents, case and separators; what is written in spaces here is a word of its own there.
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
  '国, 國家, 国家, 국가',
];
// `CC` is a copy of a letter as well: cells decide.
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

/** What stands beside a contact of other people: the list's owner has these addresses. */
const staffWords = [
  'owner, created by, modified by, updated by, assigned, assignee, agent, salesperson, sales rep',
  'added by, imported by, account manager, logged by, referrer, recruiter',
  'besitzer, betreuer, bearbeiter, ersteller, zustandig, verantwortlich, angelegt von',
  'proprietaire, cree par, modifie par, propietario, creado por, proprietario, eigenaar, opiekun',
  'ответственн, создал, 所有者, 作成者, 更新者, 所有人, 负责人',
];

/** What says something about a phone, and is none. */
const aboutPhone = [
  'type, typ, label, status, id, code, country, ext, extension, durchwahl, date, datum, last, count',
  'consent, opt, optin, verified, valid, time, model, prefix, vorwahl, carrier, operator, permission',
];

/** What has digits, and is no phone. */
const otherNumbers = [
  'order, bestell, auftrag, commande, pedido, ordine, zamowien, siparis, заказ, 注文, 订单, 訂單',
  'invoice, rechnung, facture, factura, fattura, faktur, 請求, 发票',
  'iban, konto, account, bank, customer, kunde, kunden, client, 顧客番号, 客户编号',
  'zip, postal, postcode, postleit, plz, cap, cep, 郵便, 邮编, индекс',
  'date, datum, fecha, data, created, updated, modified, time, amount, price, total, betrag, summe',
  'vat, ust, tax, steuer, siret, siren, nif, cif, nip, sku, ean, isbn, imei, ticket, tracking',
  'id, uuid, key, code, ref, reference, number, nummer, nr, no, numero',
];

/** What has country codes' letters, and is no country. */
const otherCodes =
  'state, province, region, language, lang, locale, sprache, langue, idioma, currency, wahrung, bundesland, timezone'.split(
    ', ',
  );

type ColumnMeaning = 'email' | 'phone' | 'fax' | 'country';

/** What a column's name says of it. */
interface NamedColumn {
  readonly meaning: ColumnMeaning | undefined;
  /** Whether its addresses seem to be those of people who keep the list. */
  readonly isOfStaff: boolean;
  /** Whether its digits are said to be no phone. */
  readonly isOtherNumber: boolean;
  /** Whether its letters are said to be no country. */
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
    isOtherCode: hasWord(otherCodes),
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
/** Long enough to be a part of a word without being it by chance: `Bestellnummer`. */
const longNumberParts = numberParts.filter((part) => part.length > 4 || /[^a-z]/.test(part));
/** `land` is in too many words. */
const countryParts = partsOf(countryWords).filter((part) => !countryTokens.includes(part));
