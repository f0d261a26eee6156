import type { Answer, decode, DecodedPacket, encode } from 'dns-packet';
import { refuseMissingPackage } from '../../platform/optional-package.js';

export type DnsType = 'A' | 'AAAA' | 'MX';

export interface MxRecord {
  readonly preference: number;
  /** Name of the exchanger without a final dot; empty for the root, which means a null MX (RFC 7505). */
  readonly exchange: string;
}

interface DnsData {
  readonly A: string;
  readonly AAAA: string;
  readonly MX: MxRecord;
}

export type DnsAnswer<Type extends DnsType = DnsType> =
  | { readonly kind: 'found'; readonly records: readonly DnsData[Type][] }
  /** The name exists without a record of that type. */
  | { readonly kind: 'no_data' }
  | { readonly kind: 'no_name' }
  /** Unknown; the reason is for people. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface DnsCodec {
  readonly encode: typeof encode;
  readonly decode: typeof decode;
}

const missing = refuseMissingPackage({
  by: 'verification by the network',
  install: 'dns-packet',
  driver: 'live',
});

export async function loadDnsCodec(
  load: () => Promise<{ readonly default: DnsCodec }> = async () =>
    import('dns-packet').catch(missing),
): Promise<DnsCodec> {
  return (await load().catch(missing)).default;
}

/** Largest answer requested over UDP: no fragmentation on any usual path (RFC 9715). */
const udpPayloadBytes = 1232;
const recursionDesired = 0x0100;
const internetClass = 'IN';

interface Query {
  readonly id: number;
  readonly name: string;
  readonly type: DnsType;
  /** Whether it announces the size of answers (RFC 6891), which some old servers refuse. */
  readonly extended: boolean;
}

export function encodeQuery(codec: DnsCodec, { id, name, type, extended }: Query): Buffer {
  return codec.encode({
    type: 'query',
    id,
    flags: recursionDesired,
    questions: [{ type, name, class: internetClass }],
    additionals: extended
      ? [
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize: udpPayloadBytes,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ]
      : [],
  });
}

/** A decoded message, as far as it concerns its question. */
export type DnsMessage =
  | {
      readonly kind: 'found';
      readonly records: readonly DnsData[DnsType][];
      readonly ttlSeconds: number;
    }
  | { readonly kind: 'alias'; readonly target: string; readonly ttlSeconds: number }
  | { readonly kind: 'no_data' | 'no_name'; readonly ttlSeconds: number }
  | { readonly kind: 'truncated' }
  /** The server does not understand the query's form. */
  | { readonly kind: 'not_understood' }
  | { readonly kind: 'failed'; readonly reason: string };

const responseCodes = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];
/** RFC 2308, section 5: how long a negative answer is cached at most. */
const longestAbsenceSeconds = 3 * 60 * 60;
const longestChain = 12;

/** Decodes an answer. @returns `undefined` for anything but an answer to this query */
export function readMessage(codec: DnsCodec, bytes: Buffer, query: Query): DnsMessage | undefined {
  let packet: DecodedPacket;
  try {
    packet = codec.decode(bytes);
  } catch {
    return undefined;
  }
  if (!answers(packet, query)) return undefined;
  const code = responseCodes[(packet.flags ?? 0) & 0xf] ?? 'another error';
  if (packet.flag_tc) return { kind: 'truncated' };
  if (code === 'FORMERR' || code === 'NOTIMP') return { kind: 'not_understood' };
  if (code !== 'NOERROR' && code !== 'NXDOMAIN') return { kind: 'failed', reason: code };
  const chain = followAliases(packet.answers ?? [], query);
  if (chain === undefined) return { kind: 'failed', reason: 'aliases without an end' };
  if (chain.records.length > 0) {
    return { kind: 'found', records: chain.records, ttlSeconds: chain.ttlSeconds };
  }
  const ttlSeconds = Math.min(chain.ttlSeconds, absenceSeconds(packet));
  if (code === 'NXDOMAIN') return { kind: 'no_name', ttlSeconds };
  if (chain.name !== lower(query.name)) {
    return { kind: 'alias', target: chain.name, ttlSeconds: chain.ttlSeconds };
  }
  // The server was asked to resolve the name, and did not.
  if (isReferral(packet)) return { kind: 'failed', reason: 'the server does not know the zone' };
  return { kind: 'no_data', ttlSeconds };
}

function answers(packet: DecodedPacket, { id, name, type }: Query): boolean {
  if (!packet.flag_qr || packet.id !== id) return false;
  const [question, ...more] = packet.questions ?? [];
  // An error may come without its question.
  if (question === undefined) return ((packet.flags ?? 0) & 0xf) !== 0;
  return more.length === 0 && question.type === type && lower(question.name) === lower(name);
}

function followAliases(
  records: readonly Answer[],
  { name, type }: Query,
): { records: DnsData[DnsType][]; name: string; ttlSeconds: number } | undefined {
  let at = lower(name);
  let ttlSeconds = Number.POSITIVE_INFINITY;
  for (let step = 0; step < longestChain; step += 1) {
    const own = records.filter((record) => lower(record.name) === at);
    const wanted = own.filter((record) => record.type === type);
    if (wanted.length > 0) {
      for (const record of wanted) ttlSeconds = Math.min(ttlSeconds, ttlOf(record));
      return { records: wanted.flatMap((record) => dataOf(record) ?? []), name: at, ttlSeconds };
    }
    const alias = own.find((record) => record.type === 'CNAME');
    if (alias?.type !== 'CNAME') return { records: [], name: at, ttlSeconds };
    ttlSeconds = Math.min(ttlSeconds, ttlOf(alias));
    at = lower(alias.data);
  }
  return undefined;
}

function dataOf(record: Answer): DnsData[DnsType] | undefined {
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return record.data;
    case 'MX':
      return {
        preference: record.data.preference ?? 0,
        exchange: lower(record.data.exchange),
      };
    default:
      return undefined;
  }
}

/** RFC 2308, section 5; a negative answer without a time is not cached. */
function absenceSeconds(packet: DecodedPacket): number {
  const soa = packet.authorities?.find((record) => record.type === 'SOA');
  if (soa?.type !== 'SOA') return 0;
  return Math.min(ttlOf(soa), soa.data.minimum ?? 0, longestAbsenceSeconds);
}

/** A server without authority for the zone that cannot ask others knows nothing, whether or not it names some. */
function isReferral(packet: DecodedPacket): boolean {
  if (!packet.flag_aa && !packet.flag_ra) return true;
  const authorities = packet.authorities ?? [];
  return (
    !packet.flag_aa &&
    authorities.some((record) => record.type === 'NS') &&
    !authorities.some((record) => record.type === 'SOA')
  );
}

function ttlOf(record: Answer): number {
  return 'ttl' in record ? (record.ttl ?? 0) : 0;
}

/** Names are case-insensitive (RFC 4343), and a final dot is optional. */
function lower(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
