import { operations, type OperationName } from '../../../src/contract/operations.js';
import { disturbedRun, input, type Outcome, type Scenario } from './disturbed-run.js';
import { faultKinds, type FaultKind } from './fault-kinds.js';

const names = Object.keys(operations) as OperationName[];

/** The ways of a run: with the upload's uuid in its answer, and without. */
const scenarios: readonly Scenario[] = [
  {
    name: 'uuids, and batches deleted',
    deleteBatches: true,
    operations: names.filter((name) => name !== 'credits'),
  },
  {
    name: 'no uuids in upload answers',
    variants: { upload: 'no_uuid' },
    operations: ['uploadBatch', 'listBatches'],
  },
  // A run goes on without a balance after ten seconds, in which a busy machine has to make the request, and to
  // answer it: waits after an answer that is late are long here.
  { name: 'a balance in its time', operations: ['credits'], haste: 4, silenceMs: 1500 },
];

/** One fault at one request of one run. */
export interface FaultCase {
  readonly scenario: Scenario;
  readonly kind: FaultKind;
  readonly operation: OperationName;
  readonly request: number;
}

export interface Matrix {
  readonly cases: readonly FaultCase[];
  /** Kinds of faults at operations that no run makes. */
  readonly unreached: number;
  /** The output of each scenario that nothing disturbs. */
  readonly outputs: ReadonlyMap<Scenario, readonly string[]>;
}

/**
 * How often a case is tried whose request was not reached. The number of polls is not always the same,
 * so the service takes longer each time, which asks for more of them. Every run makes each first request, but
 * a busy machine may let it wait until it is given up, before its fault.
 */
const mostTries = 5;
const slowerByMs = 75;

/**
 * Records undisturbed runs and plans every kind of fault at every request they all made.
 *
 * @param times how many runs of each scenario: the number of polls is not always the same
 */
export async function planMatrix(times = 3): Promise<Matrix> {
  const cases: FaultCase[] = [];
  const outputs = new Map<Scenario, readonly string[]>();
  let unreached = 0;
  for (const scenario of scenarios) {
    const recorded = [];
    for (let at = 0; at < times; at += 1) recorded.push(await disturbedRun(scenario, []));
    outputs.set(scenario, recorded[0]?.output ?? []);
    for (const operation of names) {
      const requests = Math.min(...recorded.map((each) => each.requests.get(operation) ?? 0));
      const kinds = faultKinds.filter((kind) => disturbs(kind, operation, scenario));
      if (requests === 0) unreached += kinds.length;
      for (let request = 1; request <= requests; request += 1) {
        cases.push(...kinds.map((kind) => ({ scenario, kind, operation, request })));
      }
    }
  }
  return { cases, unreached, outputs };
}

/** What makes, pays for or gives something: what is lost here is paid for twice, or gone. */
const costly: readonly OperationName[] = ['uploadBatch', 'launchBatch', 'exportBatch'];

/**
 * Of all cases those that decide whether a change lands, the same each time: every kind at one operation, and
 * every sort of fault, before and after the commit, at every operation that costs something. At the others the
 * simulation has every sort. They are all at an operation's first request, which every run makes, however fast
 * the service is.
 */
export function fixedCases(cases: readonly FaultCase[]): readonly FaultCase[] {
  const atFirst = cases.filter(({ request }) => request === 1);
  const ofEachKind = faultKinds.flatMap((kind, at) => {
    const ofKind = atFirst.filter((each) => each.kind === kind);
    return ofKind[at % ofKind.length] ?? [];
  });
  const ofEachCell = new Map(
    [
      ...atFirst.toReversed().filter(({ operation }) => costly.includes(operation)),
      ...ofEachKind,
    ].map((each) => [cellOf(each), each]),
  );
  return [...new Set([...ofEachKind, ...ofEachCell.values()])];
}

function cellOf({ scenario, kind, operation }: FaultCase): string {
  return [scenario.name, Object.keys(kind.what)[0], kind.when, operation].join();
}

function disturbs(kind: FaultKind, operation: OperationName, scenario: Scenario): boolean {
  // Without the uuid in the answer, what happens to the batch of an upload has no batch.
  const isBlind = scenario.variants?.upload === 'no_uuid' && operation === 'uploadBatch';
  if (isBlind && 'batch' in kind.what) return false;
  if ('key' in kind.what && !operations[operation].keyed) return false;
  if (scenario.operations?.includes(operation) === false) return false;
  return kind.operations?.includes(operation) ?? true;
}

/** @returns what is wrong with the run of a case; `undefined` when nothing is */
async function troubleOf(each: FaultCase, { outputs }: Matrix): Promise<string | undefined> {
  const { scenario, kind, operation, request } = each;
  const { what, when } = kind;
  try {
    for (let tried = 0; tried < mostTries; tried += 1) {
      const outcome = await disturbedRun({ ...scenario, delayMs: tried * slowerByMs }, [
        { operation, requests: [request], what, ...(when ? { when } : {}) },
      ]);
      const trouble = whatIsWrong(outcome, outputs.get(scenario) ?? [], kind);
      if (trouble !== undefined) return described(each, trouble, outcome);
      if (outcome.fired > 0) return undefined;
    }
    return described(each, 'the fault never fired');
  } catch (error) {
    return described(each, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

function whatIsWrong(
  { output, charges, fired }: Outcome,
  expected: readonly string[],
  kind: FaultKind,
): string | undefined {
  if (fired > 1) return `the fault fired ${fired} times`;
  if (output.length !== input.length) return `${output.length} lines for ${input.length}`;
  for (const [at, line] of output.entries()) {
    if (!line.startsWith(input[at] ?? '')) return `line ${at} is not that of the input: ${line}`;
    const isFailed = line.includes(',failed,');
    if (line !== expected[at] && !(isFailed && kind.mayFail === true)) {
      return `line ${at} is not as undisturbed: ${line}`;
    }
  }
  return wrongCharge(charges);
}

/** An address is paid for once in each batch group: as often at most as there are countries in its rows. */
function wrongCharge(charges: readonly string[]): string | undefined {
  const addresses = charges.map((charge) => charge.split(' ').slice(0, 2).join(' '));
  const groups = new Map<string, Set<string>>();
  for (const row of input.slice(1)) {
    const [, email = '', country = ''] = row.split(',');
    if (email !== '')
      groups.set(`email ${email}`, (groups.get(`email ${email}`) ?? new Set()).add(country));
  }
  for (const address of new Set(addresses)) {
    const charged = addresses.filter((other) => other === address).length;
    const allowed = groups.get(address)?.size ?? 0;
    if (charged > allowed) return `${address} was paid ${charged} times`;
  }
  return undefined;
}

function described(
  { scenario, kind, operation, request }: FaultCase,
  trouble: string,
  outcome?: Outcome,
): string {
  const stops = outcome ? `; stops: ${outcome.stops.join() || 'none'}` : '';
  return `${kind.name} at ${operation} ${request} (${scenario.name}): ${trouble}${stops}`;
}

/** Does the work of all cases, so many at a time: most of it is waiting. */
export async function troublesOf(
  cases: readonly FaultCase[],
  matrix: Matrix,
): Promise<readonly string[]> {
  const troubles: string[] = [];
  const waiting = cases.values();
  const worker = async (): Promise<void> => {
    for (const each of waiting) {
      const trouble = await inTime(each, troubleOf(each, matrix));
      if (trouble !== undefined) troubles.push(trouble);
    }
  };
  await Promise.all(Array.from({ length: casesAtOnce }, worker));
  return troubles;
}

const casesAtOnce = 8;
/** Longer than any case takes, the ends of its service and its client included. */
const caseDeadlineMs = 60_000;

/** A hang is a trouble like any other: it must not keep the whole matrix from its end. */
async function inTime(
  each: FaultCase,
  work: Promise<string | undefined>,
): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(described(each, 'it hangs')), caseDeadlineMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
