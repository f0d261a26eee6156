import { freeDomainList } from './free-domain-list.js';

let known: ReadonlySet<string> | undefined;

/**
 * Whether a domain (ASCII, lower case) is one where people keep personal mailboxes, free of charge or with
 * their internet access: by a list that is kept, and by the biggest providers, some of which it lacks.
 */
export function isFreeDomain(domain: string): boolean {
  known ??= new Set(words(`${biggest} ${freeDomainList}`));
  return known.has(domain);
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

const biggest = `
  gmail.com googlemail.com

  outlook.com outlook.at outlook.be outlook.cl outlook.co.id outlook.co.nz outlook.co.th
  outlook.com.ar outlook.com.au outlook.com.br outlook.com.gr outlook.com.pe outlook.com.tr
  outlook.com.vn outlook.cz outlook.de outlook.dk outlook.es outlook.fr outlook.hu outlook.ie
  outlook.in outlook.it outlook.jp outlook.kr outlook.lv outlook.my outlook.ph outlook.pt
  outlook.sa outlook.sg outlook.sk hotmail.com hotmail.at hotmail.be hotmail.ca hotmail.ch
  hotmail.cl hotmail.co hotmail.co.id hotmail.co.il hotmail.co.in hotmail.co.jp hotmail.co.kr
  hotmail.co.nz hotmail.co.th hotmail.co.uk hotmail.co.za hotmail.com.ar hotmail.com.au
  hotmail.com.br hotmail.com.hk hotmail.com.mx hotmail.com.tr hotmail.com.tw hotmail.com.vn
  hotmail.cz hotmail.de hotmail.dk hotmail.es hotmail.fi hotmail.fr hotmail.gr hotmail.hu
  hotmail.it hotmail.jp hotmail.my hotmail.nl hotmail.no hotmail.pl hotmail.pt hotmail.rs
  hotmail.ru hotmail.se hotmail.sg hotmail.sk live.com live.at live.be live.ca live.cl live.cn
  live.co.kr live.co.uk live.co.za live.com.ar live.com.au live.com.mx live.com.my live.com.pt
  live.com.sg live.cz live.de live.dk live.fi live.fr live.hk live.ie live.in live.it live.jp
  live.nl live.no live.pt live.ru live.se msn.com windowslive.com passport.com

  yahoo.com yahoo.at yahoo.be yahoo.ca yahoo.co.id yahoo.co.il yahoo.co.in yahoo.co.jp yahoo.co.kr
  yahoo.co.nz yahoo.co.th yahoo.co.uk yahoo.co.za yahoo.com.ar yahoo.com.au yahoo.com.br
  yahoo.com.cn yahoo.com.co yahoo.com.hk yahoo.com.mx yahoo.com.my yahoo.com.pe yahoo.com.ph
  yahoo.com.sg yahoo.com.tr yahoo.com.tw yahoo.com.ve yahoo.com.vn yahoo.cz yahoo.de yahoo.dk
  yahoo.es yahoo.fi yahoo.fr yahoo.gr yahoo.hu yahoo.ie yahoo.in yahoo.it yahoo.nl yahoo.no
  yahoo.pl yahoo.pt yahoo.ro yahoo.se yahoo.ne.jp ymail.com ymail.ne.jp rocketmail.com myyahoo.com
  aol.com aol.co.uk aol.de aol.fr aol.it aol.es aol.jp aim.com

  icloud.com me.com mac.com

  gmx.com gmx.de gmx.net gmx.at gmx.ch gmx.li gmx.org gmx.info gmx.biz gmx.co.uk gmx.es gmx.fr
  gmx.us gmx.pt gmx.it gmx.eu web.de email.de freenet.de mail.de t-online.de caramail.com
  caramail.fr mail.com email.com usa.com myself.com consultant.com post.com europe.com asia.com
  iname.com writeme.com dr.com engineer.com cheerful.com accountant.com techie.com linuxmail.org
  workmail.com contractor.net

  proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tutamail.com tuta.io
  tuta.com keemail.me mailfence.com disroot.org riseup.net zoho.com zohomail.com zohomail.eu
  zoho.eu zoho.in zohomail.in inbox.com inbox.lv inbox.lt inbox.eu lycos.com lycos.de lycos.fr
  lycos.co.uk lycos.it excite.com excite.it hotbot.com juno.com netzero.net netzero.com
  lavabit.com bigfoot.com usa.net eudoramail.com duck.com mozmail.com

  mail.ru bk.ru list.ru inbox.ru yandex.ru yandex.com yandex.by yandex.kz yandex.ua yandex.com.tr
  yandex.uz ya.ru rambler.ru lenta.ru autorambler.ru myrambler.ru pochta.ru km.ru nm.ru hotbox.ru
  ukr.net i.ua meta.ua bigmir.net email.ua ua.fm online.ua tut.by

  qq.com vip.qq.com foxmail.com 163.com 126.com yeah.net 188.com vip.163.com sina.com sina.cn
  vip.sina.com sohu.com tom.com 139.com 189.cn aliyun.com wo.cn naver.com hanmail.net daum.net
  kakao.com nate.com korea.com lycos.co.kr pchome.com.tw rediffmail.com rediff.com indiatimes.com

  libero.it virgilio.it alice.it tin.it tiscali.it inwind.it iol.it blu.it giallo.it email.it
  laposte.net voila.fr caramail.lycos.fr netcourrier.com terra.com terra.es terra.com.br
  bol.com.br uol.com.br ig.com.br zipmail.com.br globo.com globomail.com r7.com oi.com.br
  latinmail.com starmedia.com sapo.pt mail.pt iol.pt portugalmail.pt clix.pt wp.pl o2.pl onet.pl
  op.pl poczta.onet.pl vp.pl interia.pl interia.eu interia.com poczta.fm gazeta.pl tlen.pl go2.pl
  buziaczek.pl autograf.pl seznam.cz email.cz post.cz centrum.cz atlas.cz azet.sk centrum.sk
  zoznam.sk post.sk pobox.sk freemail.hu citromail.hu indamail.hu vipmail.hu abv.bg mail.bg gbg.bg
  dir.bg in.gr freemail.gr mail.ee hot.ee suomi24.fi luukku.com spray.se walla.com walla.co.il
  mynet.com mynet.com.tr maktoob.com bluewin.ch freesurf.ch lawyer.com
`;
