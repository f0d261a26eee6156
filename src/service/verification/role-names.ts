/**
 * Local parts that name a function and not a person: those of RFC 2142, and what organisations
 * commonly use, in several languages. Written without the dots, hyphens and underscores that some put
 * between the words.
 */
const roleNames: ReadonlySet<string> = new Set(
  `
  abuse hostmaster info mailer mailerdaemon marketing news noc postmaster root sales security
  support usenet uucp webmaster www ftp trouble

  admin admins administrator administration administrators sysadmin sysadmins sysop systemadmin
  domainadmin networkadmin dns dnsadmin dnsmaster domain domains registrar registry hosting host
  it itsupport itadmin ithelp itdesk ithelpdesk servicedesk ops operations operator devops sre dev
  devel developer developers engineering tech technical technicalsupport techsupport techteam
  monitoring alerts alert notifications notification notify system server cron daemon nobody
  devnull null mail email mailbox web webteam website webadmin webmail wwwadmin smtp ssl ssladmin
  ssladministrator sslwebmaster cert csirt psirt soc incident incidents vulnerability bugs
  bugbounty

  accountant accounting accounts account accountspayable accountsreceivable payable payables
  receivable receivables payroll bookkeeping bookkeeper billing bills invoice invoices invoicing
  payment payments pay finance finances financial treasury tax taxes audit credit creditcontrol
  collections refund refunds subscription subscriptions subscribe unsubscribe renewals donate
  donations fundraising

  order orders ordering purchase purchases purchasing procurement buyer buying shop store webshop
  shipping shipment shipments delivery deliveries dispatch logistics warehouse returns return rma
  export import customs supply supplies supplier suppliers vendor vendors quote quotes quotation
  quotations tender tenders wholesale retail reseller resellers partner partners partnership
  partnerships affiliate affiliates dealer dealers franchise distribution

  contact contacts contactus enquiries enquiry inquiries inquiry hello hi hey welcome office
  frontdesk frontoffice backoffice reception receptionist secretary secretariat mailroom general
  generalinfo information infos infodesk ask askus question questions feedback comment comments
  suggestion suggestions complaint complaints concierge desk team staff everyone all allstaff
  group help helpdesk helpline hotline callcenter care customer customers customercare
  customerservice customerservices customersupport customersuccess clientservice clientservices
  clientsupport client clients service services servicecenter supportteam salesteam saleteam
  presales aftersales manager management director directors board ceo cfo cto coo president
  headoffice hq corporate company business businessdevelopment bizdev investor investors
  investorrelations ir shareholder shareholders

  hr humanresources people personnel job jobs career careers recruit recruiter recruiters
  recruiting recruitment hiring talent apply application applications resume resumes cv training
  trainings internship internships volunteer volunteers benefits

  press pressoffice media mediarelations pr publicrelations publicity communications communication
  comms editor editors editorial newsroom newsdesk newsletter newsletters publisher publishing
  advertise advertising ads advert adverts promo promotions promotion campaign campaigns social
  socialmedia community event events conference webinar webinars design creative content blog seo
  survey surveys research analytics

  legal lawyer compliance privacy dpo gdpr dataprotection dataprotectionofficer copyright dmca
  trademark trademarks permissions licensing license ethics whistleblower regulatory quality qa
  safety health trust trustandsafety fraud phishing spam junk antispam

  noreply donotreply dontreply reply bounce bounces autoreply autoresponder mailinglist list lists
  majordomo listserv listmaster owner request test tester testing demo guest anonymous user users
  member members membership registration register booking bookings book reservation reservations
  reserve reservas rooms catering restaurant travel visit visitor visitors tours facilities
  maintenance property rentals rental leasing lettings housing

  admissions admission enrollment alumni student students studentservices registrarsoffice library
  librarian faculty school campus parents pta academic academics

  kontakt kundenservice kundendienst kundenbetreuung vertrieb verkauf einkauf buchhaltung rechnung
  rechnungen rechnungswesen bestellung bestellungen bewerbung bewerbungen personal presse
  datenschutz geschaeftsfuehrung geschaeftsleitung sekretariat verwaltung zentrale empfang anfrage
  anfragen technik redaktion werbung lager versand impressum vorstand praxis kanzlei
  hausverwaltung

  contacto contactos ventas compras administracion contabilidad facturacion facturas pedidos
  atencionalcliente atencioncliente clientes soporte rrhh recursoshumanos prensa empleo gerencia
  direccion recepcion informacion informes secretaria consultas reclamos

  accueil commercial comptabilite facturation factures commande commandes achats achat vente
  ventes serviceclient serviceclients clientele recrutement rh emploi direction administratif
  renseignements devis livraison juridique

  contatto contatti vendite acquisti amministrazione contabilita fatturazione fatture ordini
  assistenza assistenzaclienti clienti commerciale segreteria direzione ufficio ufficiostampa
  risorseumane lavoro preventivi

  contato contatos vendas comercial financeiro faturamento atendimento suporte sac imprensa
  ouvidoria diretoria

  verkoop inkoop boekhouding administratie klantenservice klachten facturen vacatures secretariaat
  bestuur directie receptie

  biuro sprzedaz kadry ksiegowosc faktury obsluga reklamacje zamowienia rekrutacja obchod
  fakturace objednavky podpora prodej ucetni kundtjanst faktura ekonomi ordrer salg bestilling
  kundeservice myynti asiakaspalvelu laskutus
  `
    .trim()
    .split(/\s+/),
);

/**
 * Whether a whole local part names a function (`sales`, `no-reply`), not a person or a part of a name. What
 * comes after a plus is a tag of one and the same mailbox (`info+fair`).
 */
export function isRoleName(tagged: string): boolean {
  const plus = tagged.indexOf('+');
  const local = plus > 0 ? tagged.slice(0, plus) : tagged;
  // No name of a function ends with a digit, and those of many people do.
  const last = local.charCodeAt(local.length - 1);
  if (last >= 0x30 && last <= 0x39) return false;
  const name = local.toLowerCase();
  return roleNames.has(name) || roleNames.has(name.replaceAll(/[._-]/g, ''));
}

const hashBits = 16;

function addLetter(hash: number, letter: number): number {
  return Math.imul(hash ^ (letter & 0x1f), 0x9e3779b1);
}

/** By the hash of their letters: where a name of a function may be. */
const mayBe = new Uint8Array(2 ** hashBits);
let longest = 0;
for (const name of roleNames) {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) hash = addLetter(hash, name.charCodeAt(at));
  mayBe[hash >>> (32 - hashBits)] = 1;
  longest = Math.max(longest, name.length);
}

const plus = 0x2b;
const letter = 1;
const separator = 2;

/** What each byte is in a name: those of functions are letters, and what is written between words. */
const kinds = new Uint8Array(256);
for (const byte of Buffer.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ')) {
  kinds[byte] = letter;
}
for (const byte of Buffer.from('._-')) kinds[byte] = separator;

/** Whether {@link isRoleName} can say yes of an ASCII name; of a hundred that it says no of, one is let through. */
export function mayBeRoleName(bytes: Uint8Array, begin: number, end: number): boolean {
  let hash = 0;
  let letters = 0;
  for (let at = begin; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    const kind = kinds[byte] ?? 0;
    if (byte === plus && at > begin) break;
    if (kind === 0) return false;
    if (kind === letter) {
      hash = addLetter(hash, byte);
      letters += 1;
    }
  }
  return letters <= longest && mayBe[hash >>> (32 - hashBits)] === 1;
}
