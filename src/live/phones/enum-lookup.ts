import type { NaptrRecord } from '../dns/dns-answer.js';
import type { Resolver } from '../dns/resolver.js';
import { applyNaptr } from './apply-naptr.js';
import type { PhoneFacts, PhoneLookup } from './phone-lookup.js';

const mostRecords = 32;

/**
 * Looks numbers up in the domain name system: ENUM (RFC 6116). The enumservice `pstn` (RFC 4769) tells
 * of porting: a routing number (`rn`) means that the number is not where its range is, `npdi` that this
 * was looked up. The home network of a mobile number stands in its SIP domain
 * (`mnc015.mcc234.3gppnetwork.org`, 3GPP TS 23.003, section 13).
 *
 * @param suffix zone of the numbers, `e164.arpa` or a carrier's own
 */
export function createEnumLookup(resolver: Resolver, suffix: string): PhoneLookup {
  const zone = suffix.replace(/^\.|\.$/g, '');
  return {
    async lookUp(e164, signal) {
      const answer = await resolver.resolve(`${reversed(e164)}.${zone}`, 'NAPTR', signal);
      switch (answer.kind) {
        case 'no_name':
        case 'no_data':
          return undefined;
        case 'failed':
          throw new Error(`the numbers' zone could not be asked: ${answer.reason}`);
        case 'found':
          return factsOf(answer.records.toSorted(inOrder).slice(0, mostRecords), e164);
      }
    },
  };
}

function reversed(e164: string): string {
  return e164.slice(1).split('').toReversed().join('.');
}

function inOrder(a: NaptrRecord, b: NaptrRecord): number {
  return a.order - b.order || a.preference - b.preference;
}

function factsOf(records: readonly NaptrRecord[], e164: string): PhoneFacts | undefined {
  let facts: PhoneFacts = {};
  for (const { flags, services, regexp } of records) {
    // RFC 6116 3.4.1: only `u` ends in a URI; no other flag means anything here.
    if (flags.toLowerCase() !== 'u') continue;
    const [first, ...kinds] = services.toLowerCase().split('+');
    if (first !== 'e2u') continue;
    const uri = applyNaptr(regexp, e164);
    if (uri === undefined) continue;
    // What comes first in order counts.
    if (kinds.some((kind) => kind === 'pstn' || kind.startsWith('pstn:'))) {
      facts = { ...portingOf(uri), ...facts };
    }
    if (kinds.some((kind) => kind === 'sip' || kind === 'pstn:sip')) {
      facts = { ...networkOf(uri), ...facts };
    }
  }
  return Object.keys(facts).length === 0 ? undefined : facts;
}

function portingOf(uri: string): PhoneFacts {
  const [, ...parameters] = uri.toLowerCase().split(/[;@]/);
  const names = parameters.map((parameter) => parameter.split('=', 1)[0]);
  if (names.includes('rn')) return { isPorted: true };
  return names.includes('npdi') ? { isPorted: false } : {};
}

function networkOf(uri: string): PhoneFacts {
  const home = /[@.]mnc(\d{3})\.mcc(\d{3})\.3gppnetwork\.org(?:[;:?]|$)/i.exec(uri);
  const [, mnc, mcc] = home ?? [];
  if (mnc === undefined || mcc === undefined) return {};
  return { mcc, mnc };
}
