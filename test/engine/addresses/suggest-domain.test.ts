import { describe, expect, it } from 'vitest';
import { suggestDomain } from '../../../src/engine/addresses/suggest-domain.js';
import { invalidText } from '../../../src/lists/rows/chunks/row-chunk.js';
import freeDomainsText from '../../../src/service/verification/free-domains.txt';
import { isFreeDomain, parseWordList } from '../../../src/service/verification/judge-email.js';

const misspellings: Readonly<Record<string, string>> = {
  'gmail.com': `gmial.com gmal.com gmil.com gmai.com gamil.com gmaill.com gmaiil.com gnail.com gmaik.com
    gmsil.com gmaol.com gmali.com ggmail.com gmmail.com gmailcom gmail..com gmail,com gmail.com. gmail.con
    gmail.cmo gmail.ocm gmail.comm gmail.coom gmail.vom gmail.xom gmail.co gmail.cm gmail.om gmail.com.com
    gmial.con GMIAL.COM mgail.com gmeil.com`,
  'yahoo.com':
    'yahooo.com yhaoo.com yhoo.com yaoo.com yahho.com yahoo.con yahoo.cm yahoocom yaho.com yahoo.co',
  'yahoo.co.uk': 'yahooo.co.uk yaho.co.uk',
  'yahoo.fr': 'yhaoo.fr',
  'hotmail.com': `hotmial.com hotmal.com hotmai.com hotmil.com homail.com htmail.com hotamil.com
    hotmali.com hotmaill.com hormail.com hotnail.com hotmail.con hotmial.con hotmail.cm hotmail.co ohtmail.com`,
  'hotmail.co.uk': 'hotmial.co.uk',
  'outlook.com':
    'outlok.com outloook.com oulook.com outllok.com outlook.con outlook.co outiook.com',
  'outlook.de': 'outloook.de',
  'icloud.com': 'icoud.com iclod.com iclould.com iclound.com icluod.com icloud.con icloud.co',
  'aol.com': 'aol.con aol.cmo',
  'live.com': 'live.con',
  't-online.de': 't-onlin.de t-onine.de tonline.de t-online.d t-online.ed',
  'gmx.de': 'gmx.d gmx.ed',
  'web.de': 'web.e',
  'freenet.de': 'freenet.d freent.de',
  'wanadoo.fr': 'wanado.fr wanadooo.fr',
  'hotmail.fr': 'hotmail.f',
  'orange.fr': 'orange.f orange.rf',
  'bluewin.ch': 'bluwin.ch bluewin.h',
  'uol.com.br': 'uol.com.b',
  'laposte.net': 'lapost.net laposte.ent',
  'sbcglobal.net': 'sbcglbal.net',
  'comcast.net': 'comast.net comcats.net',
  'btinternet.com': 'btintenet.com',
  'protonmail.com': 'protonmial.com',
  'yandex.ru': 'yanex.ru',
};

/** Those of companies and of providers that are near a large provider's, or look as if they were. */
const real = `aon.com all.com msc.com mse.com att.com att.net orange.com orange.fr free.com free.fr live.nl
  mail.com email.com ymail.com fmail.com qmail.com jmail.com hmail.com tmail.com rmail.com grail.com
  gail.com gail.co.in gomail.com gimail.com gmx.net gmx.de gmx.com gmx.at web.de web.com me.com mac.com
  msn.com aol.com aol.de aim.com cloud.com clouds.com icloudems.com icann.org iclub.com proton.me
  protonmail.com pm.me google.com googlemail.com goole.com gmelius.com gmass.co gms.com gmi.com mailgun.com
  hotels.com hotwire.com hotjar.com hushmail.com homemail.com hostmail.com hotmail.de hotmail.fr
  hotmail.co.jp hotmail.com.tr outlook.com outlook.jp outlookindia.com outlook.ie outreach.io yahoo.co.jp
  yahoo.com.tw yahoo.com.vn yahoo.gr yammer.com yale.edu yoho.com tahoe.com rahoo.com verizon.com
  verizon.net horizon.net comcast.com comcast.net libero.it libera.it liberto.it alice.it arbor.de arcor.de
  freenet.de telnet.be telenet.be t-online.de online.de sky.com tim.it o2.pl op.pl wp.pl onet.pl interia.pl
  seznam.cz centrum.cz mail.ru bk.ru list.ru inbox.ru ya.ru yandex.com rambler.ru ukr.net qq.com 163.com
  126.com sina.com naver.com daum.net rediff.com btconnect.com bt.com laposte.fr wanadoo.com example.com
  sluice.test gmail.example hotmail.e co.uk com`;

function words(text: string): readonly string[] {
  return text.split(/\s+/);
}

describe('suggestDomain', () => {
  const cases = Object.entries(misspellings).flatMap(([meant, typed]) =>
    words(typed).map((domain) => [domain, meant] as const),
  );
  it('is asked about more than sixty misspellings', () => {
    expect(cases.length).toBeGreaterThan(60);
    expect(words(real).length).toBeGreaterThan(100);
  });

  it.each(cases)('takes %s for %s', (domain, meant) => {
    expect(suggestDomain(`ann.lee@${domain}`)).toBe(meant);
    expect(suggestDomain(` "a@b"@${domain} `)).toBe(meant);
  });

  it.each(words(real))('takes %s for itself', (domain) => {
    expect(suggestDomain(`info@${domain}`)).toBeUndefined();
  });

  it('takes every domain of free mailboxes for itself, but for those that are misspellings', () => {
    const free = parseWordList(freeDomainsText);
    expect(free.length).toBeGreaterThanOrEqual(4810);
    const wrong = free.filter((domain) => suggestDomain(`a@${domain}`) !== undefined);
    // The list has what people sign up with, typing errors of large providers among them.
    expect(wrong.toSorted()).toEqual(
      words('hotmail.co outiook.com sbcglbal.net yaho.com yahoo.co'),
    );
  });

  it('suggests nothing but domains of free mailboxes', () => {
    for (const meant of Object.keys(misspellings).filter((domain) => domain !== 'btinternet.com')) {
      expect(isFreeDomain(meant), meant).toBe(true);
    }
  });

  it('has nothing to say of what is no email', () => {
    for (const cell of ['', 'gmial.com', '@', 'a@', undefined, invalidText] as const) {
      expect(suggestDomain(cell)).toBeUndefined();
    }
    expect(suggestDomain(`a@${'gmial.com'.repeat(100_000)}`)).toBeUndefined();
  });
});
