/** Types of records that are asked for. */
export type DnsType = 'A' | 'AAAA' | 'MX' | 'NAPTR';

export interface MxRecord {
  readonly preference: number;
  /** Name of the exchanger without a final dot; empty for the root, which is a null MX (RFC 7505). */
  readonly exchange: string;
}

export interface NaptrRecord {
  readonly order: number;
  readonly preference: number;
  readonly flags: string;
  readonly services: string;
  readonly regexp: string;
}

/** What a record of each type says. */
export interface DnsData {
  readonly A: string;
  readonly AAAA: string;
  readonly MX: MxRecord;
  readonly NAPTR: NaptrRecord;
}

/** What is known of a name and a type. */
export type DnsAnswer<Type extends DnsType = DnsType> =
  | { readonly kind: 'found'; readonly records: readonly DnsData[Type][] }
  /** The name exists, and has no record of that type. */
  | { readonly kind: 'no_data' }
  | { readonly kind: 'no_name' }
  /** Nobody could tell; the reason is for people. */
  | { readonly kind: 'failed'; readonly reason: string };
