import { notInstalled } from '../../../system/not-installed.js';

/** A network as the table of mobile country codes and mobile network codes has it. */
export interface Network {
  readonly mcc: string;
  readonly mnc: string;
  /** `undefined` when the table does not know it. */
  readonly operator: string | undefined;
}

/** Names networks by their codes. */
export type NameNetwork = (mcc: string, mnc: string) => Network;

interface TableRow {
  readonly mcc: string | null;
  readonly mnc: string | null;
  readonly brand: string | null;
  readonly operator: string | null;
  readonly status: string | null;
}

const missing = notInstalled({ by: 'verification by the network', install: 'mcc-mnc-list' });

/**
 * Loads the table of operators, kept in a package of its own because it changes every month.
 *
 * @throws ConfigurationError `missing_dependency`, which says how to install it
 */
export async function loadOperators(
  load: () => Promise<{ all(): readonly TableRow[] }> = async () =>
    import('mcc-mnc-list').catch(missing),
): Promise<NameNetwork> {
  const rows = (await load().catch(missing)).all();
  const names = new Map<string, string>();
  for (const { mcc, mnc, brand, operator, status } of rows) {
    const name = brand || operator;
    if (!mcc || !mnc || !name) continue;
    const key = `${mcc}-${mnc}`;
    // Codes are given out again; whoever uses one now is meant.
    if (status === 'Operational' || !names.has(key)) names.set(key, name);
  }
  return (mcc, mnc) => {
    // 3GPP writes codes of two digits with a zero in front; where both exist, to the letter.
    const short = mnc.length === 3 && mnc.startsWith('0') ? mnc.slice(1) : mnc;
    const written = names.has(`${mcc}-${mnc}`) || !names.has(`${mcc}-${short}`) ? mnc : short;
    return { mcc, mnc: written, operator: names.get(`${mcc}-${written}`) };
  };
}
