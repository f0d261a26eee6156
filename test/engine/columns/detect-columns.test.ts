import { describe, expect, it } from 'vitest';
import { findColumns, rowsSource } from '../../../src/index.js';
import { judgeColumns } from '../../../src/engine/columns/detect-columns.js';

/** What is taken of a table, written as its header and its rows with `|` between the cells. */
function judge(table: string) {
  const [header = [], ...rows] = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const { contacts, country, leftOut, mostly } = judgeColumns(header, rows);
  return {
    email: contacts.filter(({ type }) => type === 'email').map(({ name }) => name),
    phone: contacts.filter(({ type }) => type === 'phone').map(({ name }) => name),
    country: country?.name,
    leftOut: leftOut.map(({ name }) => name),
    mostly: mostly?.country,
  };
}

type Judged = Partial<ReturnType<typeof judge>>;

const exports: readonly [string, string, Judged][] = [
  [
    'Salesforce',
    `
Salutation|First Name|Account Name|Mailing Street|Mailing City|Mailing State/Province|Mailing Zip/Postal Code|Mailing Country|Phone|Fax|Mobile|Email|Email Opt Out|Contact Owner|Last Modified By|Last Modified Date|Do Not Call
Ms.|Ada|Acme|1 High St|London|LDN|SW1A 1AA|United Kingdom|+44 20 7946 0123|+44 20 7946 0124|+44 7700 900123|ada@acme.example|0|kim@ourselves.example|kim@ourselves.example|01/02/2024|0
Mr.|Bo|Bolt|2 Low St|Leeds|LS|LS1 4AP|United Kingdom|+44 20 7946 0999|+44 20 7946 0991||bo@bolt.example|1|kim@ourselves.example|lee@ourselves.example|11/12/2024|1`,
    {
      email: ['Email'],
      phone: ['Phone', 'Mobile'],
      country: 'Mailing Country',
      leftOut: ['Fax', 'Contact Owner', 'Last Modified By'],
      mostly: 'GB',
    },
  ],
  [
    'several addresses in a cell',
    `
fn|emails|tels|org
Ada|ada@x.example; ada@y.example|+44 20 7946 0123 / +44 7700 900123|Acme
Bo|bo@x.example|020 7946 0124, 020 7946 0125|Bolt`,
    { email: ['emails'], phone: ['tels'], mostly: 'GB' },
  ],
  [
    'HubSpot',
    `
Record ID|First Name|Email|Phone Number|Mobile Phone Number|Contact owner|Email Domain|Last modified by email domain|Create Date|Country/Region|Lead Status|Number of Sales Activities
51234567801|Ada|ada@acme.example|(202) 555-0101|+1 202-555-0102|Kim Lee (kim@us.example)|acme.example|us.example|2024-03-01 09:15|United States|NEW|12
51234567802|Bo|bo@bolt.example|(202) 555-0103||Kim Lee (kim@us.example)|bolt.example|us.example|2024-03-02 10:15|Canada|OPEN|3`,
    {
      email: ['Email'],
      phone: ['Phone Number', 'Mobile Phone Number'],
      country: 'Country/Region',
      mostly: 'US',
    },
  ],
  [
    'Mailchimp',
    `
Email Address|First Name|Address|Phone Number|MEMBER_RATING|OPTIN_TIME|OPTIN_IP|CONFIRM_TIME|LATITUDE|CC|LAST_CHANGED|LEID|EUID|email_status
ada@acme.example|Ada|1 High St|2025550101|2|2024-01-02 10:11:12|203.0.113.7|2024-01-02 10:11:12|51.5|us|2024-01-03|123456789|a1b2c3d4e5|subscribed
bo@bolt.example|Bo|2 Low St|2025550102|4|2024-01-02 10:11:13|203.0.113.8|2024-01-02 10:11:12|51.6|us|2024-01-03|123456790|a1b2c3d4e6|cleaned`,
    { email: ['Email Address'], phone: ['Phone Number'], country: 'CC', mostly: 'US' },
  ],
  [
    'Shopify',
    `
Customer ID|First Name|Email|Accepts Email Marketing|Default Address Company|Default Address Zip|Default Address Country Code|Default Address Phone|Phone|Accepts SMS Marketing|Total Spent|Total Orders|Tags
'6543210987654|Ada|ada@acme.example|yes|Acme|SW1A 1AA|GB|02079460123|'+447700900123|no|120.00|3|vip
'6543210987655|Bo|bo@bolt.example|no|Bolt|75001|FR|0142685300|'+33612345678|no|0.00|0|`,
    {
      email: ['Email'],
      phone: ['Default Address Phone', 'Phone'],
      country: 'Default Address Country Code',
    },
  ],
  [
    'Google Contacts',
    `
Name|Given Name|Group Membership|E-mail 1 - Type|E-mail 1 - Value|E-mail 2 - Type|E-mail 2 - Value|Phone 1 - Type|Phone 1 - Value|Phone 2 - Label|Phone 2 - Value|Address 1 - Country
Ada|Ada|* myContacts|* Work|ada@acme.example|Home|ada@home.example|Mobile|+49 1512 3456789|Work|030 1234567|
Bo|Bo|* myContacts|* Work|bo@bolt.example|||Mobile|+49 1512 3456780|||`,
    {
      email: ['E-mail 1 - Value', 'E-mail 2 - Value'],
      phone: ['Phone 1 - Value', 'Phone 2 - Value'],
      country: undefined,
      mostly: 'DE',
    },
  ],
  [
    'Outlook',
    `
First Name|Company|Business Street|Business Postal Code|Business Country/Region|Business Fax|Business Phone|Home Fax|Home Phone|Mobile Phone|Pager|Birthday|E-mail Address|E-mail Type|E-mail Display Name|Organizational ID Number|User 1
Ada|Acme|1 High St|10115|Germany|030 1234568|030 1234567||030 7654321|0151 23456789||1/2/1980|ada@acme.example|SMTP|Ada (ada@acme.example)|1234567|
Bo|Bolt|2 Low St|80331|Germany||089 1234567||089 7654321|||0/0/00|bo@bolt.example|SMTP|Bo (bo@bolt.example)|1234568|`,
    {
      email: ['E-mail Address'],
      phone: ['Business Phone', 'Home Phone', 'Mobile Phone'],
      country: 'Business Country/Region',
      leftOut: ['Business Fax'],
      mostly: 'DE',
    },
  ],
  [
    'Stripe',
    `
id|Description|Email|Name|Created (UTC)|Delinquent|Card ID|Currency|Card Last4|Card Exp Month|Card Issue Country|Phone|Total Spend|Tax ID
cus_9s6XKzkNRiz8i3|Ada|ada@acme.example|Ada|2024-01-02 10:11|false|card_1|usd|4242|12|US|+12025550101|100.00|GB123456789
cus_9s6XKzkNRiz8i4|Bo|bo@bolt.example|Bo|2024-01-03 10:11|false|card_2|eur|1881|11|DE||200.00|`,
    { email: ['Email'], phone: ['Phone'], country: 'Card Issue Country' },
  ],
  [
    'WooCommerce',
    `
Order Number|Order Date|Customer Note|Billing First Name|Billing Address 1|Billing Postcode|Billing Country Code|Billing Email|Billing Phone|Shipping Phone|Order Total Amount|Transaction ID
2025550101|2024-01-02||Ada|1 High St|10001|US|ada@acme.example|212-555-0101||19.99|3004567890
2025550102|2024-01-02||Bo|2 Low St|10002|US|bo@bolt.example|212-555-0102||29.99|3004567891`,
    { email: ['Billing Email'], phone: ['Billing Phone'], country: 'Billing Country Code' },
  ],
  [
    'Pipedrive',
    `
Person - ID|Person - Name|Person - Phone - Work|Person - Phone - Mobile|Person - Email - Work|Person - Email - Home|Person - Owner|Person - Last email received|Person - Open deals
1|Ada|+31 20 123 4567|+31 6 12345678|ada@acme.example||Kim|2024-01-02|2
2|Bo|+31 20 123 4568|+31 6 12345679|bo@bolt.example|bo@home.example|Kim|2024-01-02|0`,
    {
      email: ['Person - Email - Work', 'Person - Email - Home'],
      phone: ['Person - Phone - Work', 'Person - Phone - Mobile'],
      mostly: 'NL',
    },
  ],
  [
    'Zoho',
    `
Record Id|Contact Owner.id|Contact Owner|Email|Secondary Email|Phone|Home Phone|Mobile|Fax|Assistant|Asst Phone|Email Opt Out|Created By|Skype ID|Mailing Zip|Mailing Country|Tag
zcrm_5437000000324001|zcrm_5437000000194001|Kim|ada@acme.example|a@home.example|+91 22 2345 6789||+91 98765 43210|+91 22 2345 6780|||false|Kim|ada.l|400001|India|
zcrm_5437000000324002|zcrm_5437000000194001|Kim|bo@bolt.example|||||||+91 22 2345 6001|false|Kim||110001|India|`,
    {
      email: ['Email', 'Secondary Email'],
      phone: ['Phone', 'Mobile', 'Asst Phone'],
      country: 'Mailing Country',
      leftOut: ['Fax'],
      mostly: 'IN',
    },
  ],
  [
    'a German CRM',
    `
Kundennr.|Anrede|Straße|PLZ|Ort|Land|Telefon geschäftlich|Mobiltelefon|Telefax|E-Mail-Adresse|Newsletter-Einwilligung|IBAN|USt-IdNr.|Geburtsdatum|Betreuer E-Mail|Auftragsnummer
1000234567|Frau|Hauptstr. 1|10115|Berlin|Deutschland|030 / 12 34 567|0151-23456789|030 12 34 568|ada@acme.example|ja|DE02120300000000202051|DE123456789|01.02.1980|kim@wir.example|4711000123
1000234568|Herr|Ringstr. 2|1010|Wien|Österreich|+43 1 234567|||bo@bolt.example|nein|AT483200000012345864||03.04.1990|kim@wir.example|4711000124`,
    {
      email: ['E-Mail-Adresse'],
      phone: ['Telefon geschäftlich', 'Mobiltelefon'],
      country: 'Land',
      leftOut: ['Telefax', 'Betreuer E-Mail'],
    },
  ],
  [
    'a French one',
    `
N° client|Civilité|Prénom|Adresse postale|Code postal|Ville|Pays|Téléphone fixe|Portable|Télécopie|Adresse électronique|Courriel validé|SIRET|Date de naissance
00012345|Mme|Ada|1 rue Haute|75001|Paris|France|01 42 68 53 00|06 12 34 56 78|01 42 68 53 01|ada@acme.example|oui|73282932000074|02/01/1980
00012346|M.|Bo|2 rue Basse|69001|Lyon|France|04 72 10 30 30|07 12 34 56 78||bo@bolt.example|non|73282932000075|03/04/1990`,
    {
      email: ['Adresse électronique'],
      phone: ['Téléphone fixe', 'Portable'],
      country: 'Pays',
      leftOut: ['Télécopie'],
      mostly: 'FR',
    },
  ],
  [
    'a Japanese one',
    `
顧客番号|氏名|フリガナ|郵便番号|住所|電話番号|携帯電話|FAX番号|メールアドレス|メール配信|登録日|注文番号
1000001|山田|ヤマダ|100-0001|東京都|03-1234-5678|090-1234-5678|03-1234-5679|yamada@acme.example|希望|2024/01/02|2024010200012
1000002|佐藤|サトウ|530-0001|大阪府|06-1234-5678|||sato@bolt.example|拒否|2024/01/03|2024010300012`,
    {
      email: ['メールアドレス'],
      phone: ['電話番号', '携帯電話'],
      leftOut: ['FAX番号'],
    },
  ],
];

describe('what a list holds', () => {
  it.each(exports)('is found in an export of %s', (_, table, expected) => {
    expect(judge(table)).toMatchObject(expected);
  });

  it.each([
    ['Correo electrónico', 'Teléfono móvil', 'País'],
    ['Posta elettronica', 'Cellulare', 'Paese'],
    ['Endereço de e-mail', 'Telemóvel', 'País'],
    ['E-mailadres', 'Mobiel nummer', 'Land'],
    ['Adres e-mail', 'Telefon komórkowy', 'Kraj'],
    ['E-postadress', 'Mobilnummer', 'Land'],
    ['E-post', 'Tlf.', 'Land'],
    ['Mailadresse', 'Tlf. nr.', 'Land'],
    ['E-posta adresi', 'Cep telefonu', 'Ülke'],
    ['Электронная почта', 'Мобильный телефон', 'Страна'],
    ['电子邮箱', '手机号码', '国家'],
    ['이메일 주소', '휴대폰 번호', '국가'],
    ['Sähköposti', 'Matkapuhelin', 'Maa'],
    ['emailAddress', 'mobilePhone', 'countryCode'],
    ['EMAIL_ADDRESS', 'MOBILE_NO', 'COUNTRY_CODE'],
  ])('is found under %s, %s and %s', (email, phone, country) => {
    const table = `Name|${email}|${phone}|${country}\nAda|ada@acme.example|0151 23456789|DE`;
    expect(judge(table)).toMatchObject({ email: [email], phone: [phone], country });
  });

  it.each([
    ['Order number', ['2025550101', '2025550102']],
    ['IBAN', ['DE02120300000000202051', 'DE02120300000000202052']],
    ['Postcode', ['10115', '80331']],
    ['Phone Type', ['mobile', 'work']],
    ['Phone extension', ['12345', '12346']],
    ['Phone ID', ['1234567890', '1234567891']],
    ['Phone Country Code', ['49', '44']],
    ['Telefon letzter Anruf', ['01.02.2024', '02.02.2024']],
    ['Mailing Street', ['1 High St', '2 Low St']],
    ['Email Opt-In', ['true', 'false']],
    ['email_status', ['valid', 'invalid']],
    ['Email domain', ['acme.example', 'bolt.example']],
    ['Twitter', ['@ada', '@bo']],
    ['Notes', ['mail ada@acme.example first', 'call +44 20 7946 0123']],
    ['Created', ['2024-01-02', '2024-01-03']],
    ['Width x height', ['0123456789', '9876543210']],
    ['Language', ['de', 'fr']],
    ['State', ['CA', 'DE']],
    ['Market', ['CA', 'DE', 'IN', 'AL']],
    ['Market', ['CA', 'CA', 'Retail']],
    ['Staat', ['neu', 'alt']],
    ['ISO language', ['DE', 'FR', 'AT']],
    ['Korrespondenzsprache', ['DE', 'FR', 'AT']],
    ['Korr.', ['DE', 'FR', 'IT', 'ES']],
    ['Anrede', ['Mr', 'Ms']],
    ['Newsletter', ['SI', 'NO']],
    ['Curr. / currency', ['US', 'CH', 'GB']],
    ['CC', ['ada', 'lee']],
    ['Email', ['', '']],
  ])('is nothing to verify under %s', (name, cells) => {
    const table = `Name|${name}\n${cells.map((cell) => `Ada|${cell}`).join('\n')}`;
    expect(judge(table)).toMatchObject({ email: [], phone: [], country: undefined, leftOut: [] });
  });

  it('is a code of countries in German, too', () => {
    const rows = ['Deutschland', 'DE', 'CH', 'AT', 'BRD'].map((land) => `a@x.example|${land}`);
    const table = ['E-Mail|Länderschlüssel', ...rows].join('\n');
    expect(judge(table)).toMatchObject({ country: 'Länderschlüssel', leftOut: [] });
  });

  it('is taken for emails by its name where most cells have an @, complete or not', () => {
    const rows = ['a@x.example', 'x@y', 'b@y', 'c@z'].map((email) => `1|${email}`);
    const table = ['E-mail 2 - Label|E-mail 2 - Value', ...rows].join('\n');
    expect(judge(table)).toMatchObject({ email: ['E-mail 2 - Value'], leftOut: [] });
  });

  it('is named where only a few cells of a column are emails, numbers or countries', () => {
    const rows = Array.from({ length: 12 }, (_, at) =>
      at < 3
        ? `a${at}@x.example|DE|a${at}@x.example|0151 2300000${at}`
        : `b${at}@x.example|?|none|*31#`,
    );
    const { leftOut } = judgeColumns(
      ['email', 'Land', 'Info', 'Phone 1 - Value'],
      rows.map((row) => row.split('|')),
    );
    expect(leftOut.map(({ name, why }) => [name, why])).toEqual([
      ['Land', 'few_countries'],
      ['Info', 'few_emails'],
      ['Phone 1 - Value', 'few_phones'],
    ]);
  });

  it('is named where it is a column of countries by its name, and none of its cells is one', () => {
    const table = ['E-Mail|Land|Region', 'a@x.example|Germny|', 'b@x.example|Ausria|'].join('\n');
    expect(judge(table)).toMatchObject({ country: undefined, leftOut: ['Land'] });
    // There a letter is a code on cars, elsewhere anything.
    const letters = ['E-Mail|Land|Typ', 'a@x.example|D|D', 'b@x.example|A|A'].join('\n');
    expect(judge(letters)).toMatchObject({ country: 'Land', leftOut: [] });
  });

  it('is left out with what its cells likely mean', () => {
    const { leftOut } = judgeColumns(
      ['Land'],
      ['Germny', 'Germny', 'Ausria', '?', 'CH'].map((cell) => [cell]),
    );
    expect(leftOut).toMatchObject([
      {
        name: 'Land',
        why: 'few_countries',
        meant: [
          { cell: 'Germny', code: 'DE' },
          { cell: 'Ausria', code: 'AT' },
        ],
      },
    ]);
  });

  it('is one of phones also where the word for it is before each number', () => {
    expect(judge('Telefon|x\nTel: 040 1234567|1\nTel. 040 1234568|2').phone).toEqual(['Telefon']);
    expect(judge('Termin|x\nTel. 040 1234567|1\nTel. 040 1234568|2').phone).toEqual([]);
  });

  it('is named where the cells of a column are lists', async () => {
    const people = [1, 2, 3].map((at) => ({
      id: at,
      phones: [`+49 30 90182${at}`, 'x'],
      mails: [{ kind: 'work', value: `a${at}@x.example` }],
      tags: ['a'],
      others: [{ kind: 'work' }],
    }));
    const { contacts, leftOut } = await findColumns(rowsSource(people));
    expect(contacts).toEqual([]);
    expect(leftOut).toMatchObject([
      { name: 'phones', why: 'lists' },
      { name: 'mails', why: 'lists' },
    ]);
  });

  it('is taken where its cells are lists of addresses, which can be split', async () => {
    const people = [
      {
        mails: ['a@x.example', 'b@x.example'],
        phones: ['+49 30 901821'],
        mixed: ['+49 30 901821'],
      },
      { mails: ['c@x.example'], phones: ['+49 30 901822', null], mixed: ['x', '+49 30 901821'] },
      { mails: [], phones: 'tel:+49 30 901823', mixed: ['y', '+49 30 901821'] },
    ];
    const { contacts, leftOut, mostly } = await findColumns(rowsSource(people));
    expect(contacts).toMatchObject([
      { name: 'mails', type: 'email', several: { cells: 1, bare: 0, lists: 1, of: 2 } },
      { name: 'phones', type: 'phone', several: { cells: 0, bare: 1, lists: 2, of: 3 } },
    ]);
    expect(leftOut).toMatchObject([{ name: 'mixed', why: 'lists' }]);
    expect(mostly).toMatchObject({ country: 'DE', known: 3 });
  });

  it('is recognized by its cells alone where the name says nothing', () => {
    expect(judge('#1|#2|#3\nAda|ada@acme.example|+44 20 7946 0123')).toMatchObject({
      email: ['#2'],
      phone: ['#3'],
    });
    expect(judge('value\n491701234567\n491701234568').phone).toEqual(['value']);
    expect(judge('value\nada@acme.example\nno address').email).toEqual([]);
    expect(judge('Herkunft|Login\nFrankenland|x@y.example\nFrance|z@y.example')).toMatchObject({
      email: ['Login'],
      country: undefined,
    });
    expect(judge('Origin|x\nFrance|1\nGermany|2').country).toBe('Origin');
    expect(judge('Herkunft|x\nAT|1\nDE|2\nCH|3').country).toBe('Herkunft');
    for (const name of ['Ctry', 'Staat', 'Nation', 'Market', 'ISO']) {
      for (const cells of ['DE|1\nFR|2\nSpain|3\nAT', 'DE|1\nFR|2\nDE']) {
        expect(judge(`${name}|x\n${cells}|4`).country).toBe(name);
      }
    }
  });

  it('is named by position where its name is not enough', () => {
    const header = ['Email', 'Email', 'E\u202email', '#9', ' '];
    const rows = [header.map((_, at) => `ada${at}@acme.example`)];
    const { contacts } = judgeColumns(header, rows);
    expect(contacts.map(({ name }) => name)).toEqual(['#1', '#2', '#3', '#4', '#5']);
  });

  it('is shown with three different cells of the right kind', () => {
    const cells = [
      'none',
      'a@x.example',
      'a@x.example',
      '',
      'b@x.example',
      'c@x.example',
      'd@x.example',
    ];
    const { contacts, all } = judgeColumns(
      ['E-Mail'],
      cells.map((cell) => [cell]),
    );
    expect(contacts[0]?.examples).toEqual(['a@x.example', 'b@x.example', 'c@x.example']);
    expect(all[0]?.title).toBe('E-Mail');
  });

  it('knows the country of most numbers, and says none where there is no clear majority', () => {
    const of = (...numbers: string[]) => judge(`Phone\n${numbers.join('\n')}`).mostly;
    expect(of('+49 30 1234567', '0049 30 1234568', '030 1234567')).toBe('DE');
    expect(of('+49 30 1234567', '+33 1 42 68 53 00')).toBeUndefined();
    expect(of('030 1234567')).toBeUndefined();
  });

  it('counts what says the country', () => {
    const of = (csv: string) => {
      const [header = [], ...rows] = csv.split('\n').map((line) => line.split(','));
      return judgeColumns(header, rows).mostly;
    };
    const numbers = ['+41 44 301 12 34', '+41 44 301 12 35', '+49 30 1234567', '030 1234567', ''];
    expect(of(`Phone,x\n${numbers.map((number) => `${number},`).join('\n')}`)).toEqual({
      country: 'CH',
      from: 'calling_codes',
      of: 4,
      known: 3,
      same: 2,
    });
    expect(of('Country,x\nFrance,\nFR,\n,')).toEqual({
      country: 'FR',
      from: 'country_column',
      of: 3,
      known: 2,
      same: 2,
    });
  });

  it('takes a list of one column for emails where most of them are', () => {
    const rows = ['a@sluice.test', 'b@sluice.test', 'c'].map((cell) => [cell]);
    expect(judgeColumns(['value'], rows).contacts).toMatchObject([{ type: 'email' }]);
  });

  it('says of how many numbers the country is known by a calling code', () => {
    const rows = [
      ['030 1234567', '+49 30 1234567'],
      ['+49 30 1234567', '+33 1 42 68 53 00'],
      ['', ''],
    ];
    const { callingCodes } = judgeColumns(['Phone', 'Mobile'], rows);
    expect(callingCodes).toMatchObject({ name: 'Mobile', known: 2, of: 2 });
    // Of rows that have a country of their own, none is asked for.
    const withCountry = rows.map((row, at) => [...row, ['', 'FR', 'FR'][at] ?? '']);
    const named = judgeColumns(['Phone', 'Mobile', 'Country'], withCountry).callingCodes;
    expect(named).toMatchObject({ name: 'Mobile', known: 1, of: 1 });
    expect(judgeColumns(['Phone'], [['030 1234567']]).callingCodes).toBeUndefined();
  });
});
