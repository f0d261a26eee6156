import { freeDomainList } from './free-domain-list.js';

/** Big providers that the list lacks. */
const more = `
  outlook.com.ar hotmail.at hotmail.cl hotmail.co.id hotmail.com.ar hotmail.com.hk
  hotmail.com.mx hotmail.com.tw hotmail.com.vn hotmail.pl hotmail.pt hotmail.rs hotmail.sk
  live.com.my live.cz live.fi live.pt passport.com yahoo.com.pe yahoo.com.ve yahoo.ne.jp
  myyahoo.com aol.it aol.es aol.jp gmx.org gmx.info gmx.biz gmx.it gmx.eu email.de caramail.fr
  asia.com tutanota.com tutamail.com tuta.com keemail.me disroot.org riseup.net zohomail.eu
  zoho.eu zoho.in zohomail.in inbox.eu lycos.de lycos.fr lavabit.com mozmail.com yandex.com.tr
  yandex.uz nm.ru hotbox.ru online.ua vip.qq.com vip.163.com vip.sina.com wo.cn pchome.com.tw
  tin.it blu.it giallo.it caramail.lycos.fr globo.com globomail.com r7.com oi.com.br clix.pt
  poczta.onet.pl interia.com go2.pl buziaczek.pl zoznam.sk gbg.bg dir.bg in.gr walla.com
  mynet.com.tr freesurf.ch
`;

let known: ReadonlySet<string> | undefined;

/**
 * Whether a domain (ASCII, lower case) is one where people keep personal mailboxes, free of charge or with
 * their internet access: by a list that is kept.
 */
export function isFreeDomain(domain: string): boolean {
  known ??= new Set(words(`${more} ${freeDomainList}`));
  return known.has(domain);
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
