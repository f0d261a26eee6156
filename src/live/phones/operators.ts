import { refuseMissingPackage } from '../../platform/optional-package.js';

/** A network in the table of mobile country and network codes. */
export interface Network {
  readonly mcc: string;
  readonly mnc: string;
  /** `undefined` where the table does not have it. */
  readonly operator: string | undefined;
}

/** Finds networks by their codes; one code may belong to different operators in different countries. */
export type NameNetwork = (mcc: string, mnc: string, country?: string) => Network;

interface TableRow {
  readonly mcc: string | null;
  readonly mnc: string | null;
  readonly brand: string | null;
  readonly operator: string | null;
  readonly status: string | null;
  /** One country, or several, such as `AU/CC/CX`. */
  readonly countryCode: string | null;
}

const missing = refuseMissingPackage({
  by: 'verification by the network',
  install: 'mcc-mnc-list',
  driver: 'live',
});

/** Loads the table of operators from a package of its own, as it changes every month. */
export async function loadOperators(
  load: () => Promise<{ all(): readonly TableRow[] }> = async () =>
    import('mcc-mnc-list').catch(missing),
): Promise<NameNetwork> {
  const rows = (await load().catch(missing)).all();
  const networks = new Map<string, TableRow[]>();
  for (const row of rows) {
    if (!row.mcc || !row.mnc || !nameOf(row)) continue;
    const key = `${row.mcc}-${row.mnc}`;
    networks.set(key, [...(networks.get(key) ?? []), row]);
  }
  return (mcc, mnc, country) => {
    // 3GPP pads codes of two digits with a zero; where both exist, the exact one counts.
    const short = mnc.length === 3 && mnc.startsWith('0') ? mnc.slice(1) : mnc;
    const written = networks.has(`${mcc}-${mnc}`) || !networks.has(`${mcc}-${short}`) ? mnc : short;
    const row = rowFor(networks.get(`${mcc}-${written}`) ?? [], country);
    return { mcc, mnc: written, operator: row && nameOf(row) };
  };
}

/**
 * 310-410 is AT&T in the United States and Liberty on the Virgin Islands: the number's country decides. Codes
 * are reused: the latest row in use counts, and the table is in order of time.
 */
function rowFor(rows: readonly TableRow[], country: string | undefined): TableRow | undefined {
  const own = rows.filter(({ countryCode }) => countryCode?.split('/').includes(country ?? ''));
  const inUse = ({ status }: TableRow): boolean => status === 'Operational';
  return own.findLast(inUse) ?? own.at(-1) ?? rows.findLast(inUse) ?? rows.at(-1);
}

function nameOf({ brand, operator }: TableRow): string | undefined {
  return brand || operator || undefined;
}
