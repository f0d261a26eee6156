import type { VerificationType } from '../../contract/enums.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import {
  isAtEnd,
  isLaunchInDoubt,
  type BatchState,
  mayHaveLaunched,
} from '../batches/batch-state.js';
import { isExportWrong } from '../batches/export-check.js';
import { heldCredits } from '../batches/claim.js';
import type { BatchEntry, PartEntry, StoppedEntry } from './journal-entries.js';
import { addressesOf, owedExports, type RunState, spentBefore } from './run-state.js';

/** The status of a run in a state directory or a shared store. */
export interface RunStatus {
  /** Its path, or the store's name. */
  readonly stateDir: string;
  readonly input: string;
  readonly output: string;
  /** The service's base URL, or `local`. */
  readonly service: string;
  readonly startedAt: string;
  /** `null` until the input is read to its end. */
  readonly rows: number | null;
  /** A batch that was too large is counted by its parts. */
  readonly batches: number;
  /** Finished batches: stored, or failed. */
  readonly done: number;
  /** Batches that may have been launched, without results yet. */
  readonly running: number;
  /** Those of which it is unknown whether they were launched: the service is asked again. */
  readonly inDoubt: number;
  /** Batches that are known to be on the service. */
  readonly uploads: number;
  /** Batches of which something was sent, by stage. */
  readonly stages: Readonly<Record<string, number>>;
  /** Credits of the batches that may have been launched, before refunds. */
  readonly launchedCredits: Readonly<Record<VerificationType, number>>;
  /** The same of the runs that this one replaced as the list had changed: its own do not include them. */
  readonly earlierCredits: Readonly<Record<VerificationType, number>>;
  /** What counts under `maxCredits`: `launchedCredits`, and those of runs whose budget this one has taken over. */
  readonly budgetCredits: Readonly<Record<VerificationType, number>>;
  /** Credits of those: they may not have been spent. */
  readonly doubtfulCredits: Readonly<Record<VerificationType, number>>;
  /** Most credits that unlaunched batches need. */
  readonly openCredits: Readonly<Record<VerificationType, number>>;
  readonly isFinished: boolean;
  /** Whether its end was reported, too: the next run starts over, unless it retries what failed. */
  readonly isEnded: boolean;
  /**
   * What `retryFailed` would do: paid exports to request again, and addresses to send again, of which
   * `paidTwice` may have been paid already.
   */
  readonly retry: {
    readonly exports: number;
    readonly addresses: number;
    readonly paidTwice: number;
  };
  /**
   * Why launches are stopped: its credits, its budget, the key, or for processes that share it, a person;
   * `null` while they are allowed.
   */
  readonly stopped: Pick<StoppedEntry, 'code' | 'message' | 'at'> | null;
}

export function statusOf(state: RunState, stateDir: string): RunStatus {
  const { run, plan, stopped } = state;
  if (!run)
    throw new ConfigurationError(`no run found in ${stateDir}`, {
      file: stateDir,
      fault: 'missing',
    });
  const batches = [...state.batches.values()].map((entry) => entry.state);
  const planned = { email: 0, phone: 0 };
  for (const { type, addresses } of plan?.batches ?? []) planned[kindOf(type)] += addresses;
  const launched = launchedCreditsOf(state);
  const before = spentBefore(state);
  const closed = creditsOf(state, (batch) => mayHaveLaunched(batch) || isAtEnd(batch));
  return {
    stateDir,
    input: textOf(run.decides['input']),
    output: textOf(run.writes['output']),
    service: run.service,
    startedAt: run.startedAt,
    rows: plan?.rows ?? null,
    // A split batch makes room for two.
    batches: (plan?.batches.length ?? 0) + batches.filter(({ stage }) => stage === 'split').length,
    done: batches.filter(isAtEnd).length,
    running: batches.filter((batch) => mayHaveLaunched(batch) && !isAtEnd(batch)).length,
    inDoubt: batches.filter(isLaunchInDoubt).length,
    uploads: batches.filter((batch) => 'uuid' in batch && batch.uuid !== undefined).length,
    stages: stagesOf(state),
    launchedCredits: launched,
    earlierCredits: creditsOfEarlier(state),
    budgetCredits: {
      email: launched.email + before.email,
      phone: launched.phone + before.phone,
    },
    doubtfulCredits: creditsOf(state, isLaunchInDoubt),
    openCredits: { email: planned.email - closed.email, phone: planned.phone - closed.phone },
    isFinished: state.finished !== undefined,
    isEnded: state.hasEnded,
    retry: retryOfRun(state),
    stopped: stopped ? { code: stopped.code, message: stopped.message, at: stopped.at } : null,
  };
}

function launchedCreditsOf(state: RunBatches): Record<VerificationType, number> {
  return creditsOf(
    state,
    () => true,
    (entry) => {
      const { spent, reserved } = heldCredits(addressesOf(state, entry), entry);
      return spent + reserved;
    },
  );
}

function creditsOfEarlier({ earlier }: RunState): Record<VerificationType, number> {
  const sum = { email: 0, phone: 0 };
  for (const each of earlier) {
    const { email, phone } = launchedCreditsOf(each);
    sum.email += email;
    sum.phone += phone;
  }
  return sum;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function stagesOf(state: RunState): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { state: batch } of state.batches.values()) {
    if (batch.stage === 'split') continue;
    counts.set(batch.stage, (counts.get(batch.stage) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

/** Paid exports that an earlier run lacks are requested again, too. */
function retryOfRun(state: RunState): Retry {
  const retry = retryOf(failedBatches(state));
  const owedBefore = state.earlier.reduce((sum, each) => sum + owedExports(each), 0);
  return { ...retry, exports: retry.exports + owedBefore };
}

function failedBatches(state: RunState): Parameters<typeof retryOf>[0] {
  return [...state.batches.values()].flatMap((entry) => {
    const { state: batch } = entry;
    if (batch.stage !== 'failed') return [];
    return [{ ...batch, addresses: addressesOf(state, entry) }];
  });
}

type RunBatches = Pick<RunState, 'plan' | 'batches'>;

function creditsOf(
  state: RunBatches,
  isMeant: (batch: BatchState) => boolean,
  of = (entry: BatchEntry | PartEntry): number => addressesOf(state, entry),
): Record<VerificationType, number> {
  const credits = { email: 0, phone: 0 };
  for (const entry of state.batches.values()) {
    const planned = state.plan?.batches[entry.batch];
    if (!planned || entry.state.stage === 'split' || !isMeant(entry.state)) continue;
    credits[kindOf(planned.type)] += of(entry);
  }
  return credits;
}

function kindOf(type: string): VerificationType {
  return type === 'email' ? 'email' : 'phone';
}

interface Retry {
  /** Paid batches: only their exports are requested again, which is free. */
  readonly exports: number;
  /** Addresses that are sent again, and may be paid again. */
  readonly addresses: number;
  /** Those that may have been paid already. */
  readonly paidTwice: number;
}

interface FailedBatch {
  readonly reason: string | null;
  readonly uuid: string | null | undefined;
  readonly addresses: number;
  readonly launched: boolean;
}

export function retryOf(failed: readonly FailedBatch[]): Retry {
  const sent = failed.filter(({ reason, uuid }) => !isExportWrong(reason) || !uuid);
  const addressesOf = (batches: readonly FailedBatch[]): number =>
    batches.reduce((sum, { addresses }) => sum + addresses, 0);
  return {
    exports: failed.length - sent.length,
    addresses: addressesOf(sent),
    paidTwice: addressesOf(sent.filter(({ launched }) => launched)),
  };
}
