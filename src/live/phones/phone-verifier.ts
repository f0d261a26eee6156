import pLimit from 'p-limit';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { LimitFunction } from 'p-limit';
import type { CountryCode } from '../../contract/countries.js';
import {
  type LiveVerification,
  type PhoneVerdict,
  createLiveWork,
} from '../../service/verification/engine.js';
import {
  judgePhone,
  normalPhone,
  judgeTestNumber,
} from '../../service/verification/judge-phone.js';
import type { PhoneFacts, PhoneLookup } from './phone-lookup.js';
import { refuseMissingPackage } from '../../platform/optional-package.js';

interface PhoneVerifierOptions {
  /** In the order of their calls. */
  readonly lookups: readonly PhoneLookup[];
  readonly concurrency: number;
  readonly nameNetwork: NameNetwork;
}

/** Numbers in work at once: the others stay on disk. */
const mostPending = 1000;

/** Verifies phone numbers: by their plan, and valid ones by a network's facts. */
export class PhoneVerifier {
  readonly #options: PhoneVerifierOptions;
  readonly #slots: LimitFunction;
  /** Called whenever a number of a batch is settled. */
  readonly #watchers = new Set<() => void>();
  #pending = 0;

  constructor(options: PhoneVerifierOptions) {
    this.#options = options;
    this.#slots = pLimit(options.concurrency);
  }

  async judge(phone: string, country: CountryCode, signal: AbortSignal): Promise<PhoneVerdict> {
    const planned = judgePhone(phone, country);
    const e164 = numberToAsk(phone, country, planned);
    if (e164 === undefined) return planned;
    const facts = await this.#slots(async () => this.#ask(e164, signal));
    return phoneVerdict(planned, facts, (mcc, mnc) =>
      this.#options.nameNetwork(mcc, mnc, parsePhoneNumberFromString(e164)?.country),
    );
  }

  live(country: CountryCode, signal: AbortSignal): LiveVerification {
    const watchers = this.#watchers;
    const work = createLiveWork(signal, watchers);
    const isFull = (): boolean => this.#pending >= mostPending;
    return {
      get isFull() {
        return isFull();
      },
      offer: (phone, report) => {
        if (isFull()) return false;
        this.#pending += 1;
        this.judge(phone, country, work.signal)
          .then(
            (verdict) => work.report(report, verdict),
            (error: unknown) => work.fail(error),
          )
          .finally(() => {
            this.#pending -= 1;
            for (const notify of watchers) notify();
          });
        return true;
      },
      moved: work.moved,
      end: work.end,
    };
  }

  /** Calls the lookups in turn for what is still missing. */
  async #ask(e164: string, signal: AbortSignal): Promise<PhoneFacts> {
    let facts: PhoneFacts = {};
    for (const lookup of this.#options.lookups) {
      signal.throwIfAborted();
      if (isComplete(facts)) break;
      try {
        facts = { ...(await lookup.lookUp(e164, signal)), ...facts };
      } catch {
        // A failed lookup is reported as unknown.
        signal.throwIfAborted();
      }
    }
    return facts;
  }
}

function isComplete({ status, isPorted, mcc, operator }: PhoneFacts): boolean {
  return (
    status !== undefined && isPorted !== undefined && (mcc !== undefined || operator !== undefined)
  );
}

/** A number that is valid by its plan, in E.164. */
function numberToAsk(
  phone: string,
  country: CountryCode,
  planned: PhoneVerdict,
): string | undefined {
  if (!planned.valid || judgeTestNumber(phone)) return undefined;
  return normalPhone(phone, country);
}

/** Combines a network's facts with the numbering plan. */
function phoneVerdict(
  planned: PhoneVerdict,
  facts: PhoneFacts,
  nameNetwork: NameNetwork,
): PhoneVerdict {
  const { status, isPorted, mcc, mnc, operator } = facts;
  const network = mcc !== undefined && mnc !== undefined ? nameNetwork(mcc, mnc) : undefined;
  // The plan allows the range, but the number is unassigned.
  const isWrong = status === 'invalid';
  return {
    ...planned,
    valid: !isWrong,
    wrong: isWrong,
    status: status ?? planned.status,
    is_ported: isPorted ?? planned.is_ported,
    current_network_mcc: network?.mcc ?? mcc ?? null,
    current_network_mnc: network?.mnc ?? null,
    operator: operator ?? network?.operator ?? null,
  };
}

/** A network in the table of mobile country and network codes. */
interface Network {
  readonly mcc: string;
  readonly mnc: string;
  /** `undefined` where the table does not have it. */
  readonly operator: string | undefined;
}

/** Finds networks by their codes; one code may belong to different operators in different countries. */
type NameNetwork = (mcc: string, mnc: string, country?: string) => Network;

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
