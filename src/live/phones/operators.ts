import { refuseMissingPackage } from '../../platform/optional-package.js';

/** A network as the table of mobile country codes and mobile network codes has it. */
export interface Network {
  readonly mcc: string;
  readonly mnc: string;
  /** `undefined` when the table does not know it. */
  readonly operator: string | undefined;
}

/** Names networks by their codes; one code may belong to different operators in different countries. */
export type NameNetwork = (mcc: string, mnc: string, country?: string) => Network;

interface TableRow {
  readonly mcc: string | null;
  readonly mnc: string | null;
  readonly brand: string | null;
  readonly operator: string | null;
  readonly status: string | null;
  /** One country, or several as `AU/CC/CX`. */
  readonly countryCode: string | null;
}

const missing = refuseMissingPackage({
  by: 'verification by the network',
  install: 'mcc-mnc-list',
  driver: 'live',
});

/** Loads the table of operators, kept in a package of its own because it changes every month. */
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
    // 3GPP writes codes of two digits with a zero in front; where both exist, to the letter.
    const short = mnc.length === 3 && mnc.startsWith('0') ? mnc.slice(1) : mnc;
    const written = networks.has(`${mcc}-${mnc}`) || !networks.has(`${mcc}-${short}`) ? mnc : short;
    const row = rowFor(networks.get(`${mcc}-${written}`) ?? [], country);
    return { mcc, mnc: written, operator: row && nameOf(row) };
  };
}

/**
 * 310-410 is AT&T in the United States and Liberty on the Virgin Islands: the country of the number
 * decides. Codes are given out again: of its rows the latest one in use counts, and the table has the
 * latest last.
 */
function rowFor(rows: readonly TableRow[], country: string | undefined): TableRow | undefined {
  const own = rows.filter(({ countryCode }) => countryCode?.split('/').includes(country ?? ''));
  const inUse = ({ status }: TableRow): boolean => status === 'Operational';
  return own.findLast(inUse) ?? own.at(-1) ?? rows.findLast(inUse) ?? rows.at(-1);
}

function nameOf({ brand, operator }: TableRow): string | undefined {
  return brand || operator || undefined;
}
