import type { Client } from '../../client/client.js';
import { systemClock } from '../../platform/waiting/clock.js';
import type { Batch } from '../batches/batch.js';
import { checkHistoryService } from '../plan/result-cache.js';
import { countVerified, namedColumns } from '../columns/column-layout.js';
import { validateUnsplit, askedSource } from './planning/split-cells.js';
import { defaults } from '../driver/driver-options.js';
import { columnNotices, doubtfulColumns, emailNotices } from '../plan/column-quality.js';
import { checkCountries, Plan } from '../plan/plan.js';
import { checkOptions } from '../../platform/check-options.js';
import type { Needed } from '../../platform/option-kinds.js';
import type { TargetChoice } from '../streams/stream-options.js';
import { comparedSource, namedSource } from '../../lists/rows/sources/derived-sources.js';
import { budgetNotices, type LeftToSend, nothingLeft, readCredits } from './credits.js';
import { EstimatedList } from './estimated-list.js';
import { askedOptions, type Estimate } from '../summary/summary.js';
import { openList, planEntryOf, startValidating } from './planning/open-list.js';
import { whyTooFew } from './planning/plan-input.js';
import { lookAtShared } from './reporting/read-status.js';
import { noticed, observedProgress } from './reporting/run-progress.js';
import { CalledBack, orAborted } from '../../platform/waiting/promises.js';
import type { EstimateSettings } from './options/run-options.js';
import { sinkOf, sourceOf, type SourceInput } from './options/source-and-sink.js';
import { estimateShape } from './options/option-shapes.js';
import { LaunchedElsewhere, paidLookup } from './resume/launched-elsewhere.js';
import type { HashWords } from '../../platform/hashing/address-table.js';
import { leftOfShared } from './resume/left-to-send.js';
import { UnfinishedComparison } from './resume/compare-unfinished.js';
import type { PlanEntry } from '../stores/journal-entries.js';
import { systemFiles } from '../../platform/files/file-system.js';
import { isSeenAtWork } from '../stores/directory/folders.js';
import type { FoundHeader, Source } from '../../lists/rows/source.js';
import type { ColumnLayout } from '../columns/column-layout.js';
import type { Suppressed } from '../plan/suppressed.js';
import { readSuppressed, suppressNotices } from './options/read-suppressed.js';
import { notice, type Notice } from '../../platform/text/notices.js';

export type { Estimate, TypeEstimate, UnfinishedRun } from '../summary/summary.js';

/**
 * Reads a source like a run, and counts. Nothing is sent or stored.
 *
 * @throws ConfigurationError, InputError, OutputError as a run does before it sends anything; ApiError
 * `unauthorized`, DeadlineError when the balance cannot be read
 *
 * @example
 * ```ts
 * const estimate = await estimateRun({ source: 'contacts.csv', email: ['email'], country: 'US' });
 * console.log(estimate.rows, estimate.email?.credits); // 3 2
 * ```
 */
export async function estimateRun<From extends SourceInput, Given = unknown>(
  options: EstimateSettings<From> & Needed<Given, TargetChoice>,
): Promise<Estimate> {
  checkOptions(options, estimateShape);
  const calledBack = new CalledBack();
  const asked = askedOf(options, calledBack);
  const { client, stateDir, signal, onProgress } = asked;
  const onNotice = (given: Notice | string): void => onProgress(noticed(given));
  const service = options.serviceName ?? client?.baseUrl ?? '';
  checkHistoryService(options.history, service);
  checkCountries(options);
  const { suppressed, lists } = await readSuppressed(options.suppress, asked);
  const sink = options.sink === undefined ? undefined : sinkOf('sink', options.sink);
  const source = await repeatableSource(options);
  await sink?.check(countVerified(options));
  const decides = lists === undefined ? options.decides : { ...options.decides, suppress: lists };
  const compared = { ...asked, source, sink, suppressed, decides };
  const unfinished = await UnfinishedComparison.find(stateDir, compared);
  const found: FoundHeader[] = [];
  const onHeaderFound = (header: FoundHeader): number => found.push(header);
  const { reading, layout } = await openList(source, {
    ...asked,
    onHeaderFound,
    isSent: (...cell) => list.plan.planner.cells.lineOf(...cell) !== undefined,
  });
  await unfinished?.begin(layout);
  const launched = unfinished?.launches ?? new Set<string>();
  const elsewhere = options.history && new LaunchedElsewhere(options.history, launched, 'all');
  const shared = await readLeftOfShared(options, onNotice);
  let paidSince = 0;
  const onRecall = (hash: HashWords): void => {
    if (shared?.isPaidSince?.(hash) === true) paidSince += 1;
  };
  const list = new EstimatedList(planFor(layout, suppressed, asked, { elsewhere, onRecall }));
  const validate = sink && (await startValidating({ sink, signal, onProgress }, reading, layout));
  for await (const chunk of reading.chunks) {
    signal.throwIfAborted();
    validateUnsplit(chunk, validate);
    list.add(chunk);
    unfinished?.add(chunk);
    onProgress({ stage: 'reading', rows: list.rows, addresses: list.plan.book.size });
  }
  await validate?.end?.();
  list.end();
  const doubtful = doubtfulColumns(list.plan, {
    splitCells: options.splitCells,
    history: unfinished ? undefined : options.history,
  });
  // Nothing has to be stopped: the caller reads the estimate.
  if (doubtful.length > 0) await options.onDoubtfulColumns?.(doubtful);
  const entryOf = (batches: readonly Batch[]): PlanEntry =>
    planEntryOf(list.rows, { reading, found }, batches);
  const stood = await unfinished?.end(entryOf, list);
  // What an unfinished run has sent of the same list is finished whatever its size.
  const isNew = stood === undefined || stood.run.action === 'carry';
  const tooFew = isNew ? await whyTooFew(compared, list.rows) : undefined;
  // Another run takes its place, which plans the list again.
  const isReplaced = paidSince > 0;
  const planned = isReplaced ? { ...shared?.left, batches: list.batches } : shared?.left;
  const left = stood?.left ?? { ...nothingLeft, batches: list.batches, ...planned };
  for (const each of [
    ...(tooFew === undefined ? [] : [notice('list_suspect', { rows: list.rows, why: tooFew })]),
    ...(stood ? [] : (elsewhere?.notices() ?? [])),
    ...paidSinceNotices(stood?.paidSince ?? paidSince),
    ...(isReplaced ? [notice('run_replaced', { run: options.store?.name ?? '' })] : []),
    ...columnNotices(list.plan),
    ...suppressNotices(list.plan, compared),
    ...(stood ? [] : emailNotices(list.plan, list.batches)),
    ...budgetNotices(left, options),
  ]) {
    onNotice(each);
  }
  await orAborted(calledBack.settled(), signal);
  const balance = client && (await shownBalance(client, signal, onNotice));
  return {
    dry_run: true,
    input: source.name,
    output: sink?.name ?? null,
    service,
    rows: list.rows,
    ...askedOptions(options),
    ...list.figures(left),
    ...(stood && { unfinished: stood.run }),
    ...(stateDir !== undefined &&
      (await isSeenAtWork(stateDir)) && { state_locked: true as const }),
    balance: balance ?? null,
  };
}

function askedOf(options: EstimateSettings, calledBack: CalledBack) {
  return {
    ...options,
    client: options.client,
    files: options.files ?? systemFiles,
    maxUnknown: undefined,
    batchSize: options.batchSize ?? defaults.batchSize,
    signal: options.signal ?? new AbortController().signal,
    onProgress: observedProgress(calledBack.watch(options.onProgress)),
    onChangedCell: calledBack.watch(options.onChangedCell),
  };
}

/** The source as a run names, compares and splits it. */
async function repeatableSource(options: EstimateSettings): Promise<Source> {
  const named = namedSource(await sourceOf(options.source, options.sink), namedColumns(options));
  const isCompared = options.stateDir !== undefined && !named.keep;
  return askedSource(isCompared ? comparedSource(named) : named, options);
}

/** A plan whose batches are counted and kept nowhere. */
function planFor(
  layout: ColumnLayout,
  suppressed: Suppressed | undefined,
  { onChangedCell, history, ...options }: EstimateSettings & { readonly batchSize: number },
  {
    elsewhere,
    onRecall,
  }: {
    readonly elsewhere: LaunchedElsewhere | undefined;
    readonly onRecall: (hash: HashWords) => void;
  },
): Plan {
  return new Plan({
    ...options,
    layout,
    suppressed,
    storage: { append: () => undefined, open: () => [] },
    ...(onChangedCell && {
      onChanged: (cell, submitted, column) =>
        onChangedCell({ column: layout.columns[column]?.name ?? '', cell, submitted }),
    }),
    ...(history && {
      seed: history.seed,
      recall: (outcomes) => {
        const kept = history.recall(outcomes, false);
        const launched = outcomes.idOf('no_result', 'no_record');
        return {
          // A run waits for what others have launched, and pays for none of it.
          outcomeOf(hash) {
            onRecall(hash);
            const outcome = kept.outcomeOf(hash);
            return outcome === -1 && elsewhere?.note(hash) === true ? launched : outcome;
          },
        };
      },
    }),
  });
}

/** @returns `undefined` where it cannot be read now */
async function shownBalance(
  client: Client,
  signal: AbortSignal,
  onNotice: (given: Notice) => void,
): Promise<Estimate['balance'] | undefined> {
  const read = await readCredits(client, { signal, clock: systemClock }, (why) =>
    onNotice(notice('balance_not_compared', { why })),
  );
  return read && { email: read.email_credit, phone: read.phone_credit };
}

function paidSinceNotices(addresses: number): readonly Notice[] {
  return addresses > 0 ? [notice('paid_since', { addresses })] : [];
}

interface LeftOfShared {
  readonly left: LeftToSend;
  /** Whether another run has paid for an address since it was planned; absent where it is joined in any case. */
  readonly isPaidSince?: (hash: HashWords) => boolean;
}

/** @returns `undefined` where it has not begun, or is unknown */
async function readLeftOfShared(
  { store, retryFailed, history }: EstimateSettings,
  onNotice: (given: Notice) => void,
): Promise<LeftOfShared | undefined> {
  if (!store) return undefined;
  try {
    const { state, isAtWork } = await lookAtShared(store);
    const left = leftOfShared(state, { retryFailed });
    if (!left) return undefined;
    // Whoever is at work goes on with it, and others join.
    if (isAtWork || state.finished || !history) return { left };
    const sinceMs = Date.parse(state.run?.startedAt ?? '');
    return { left, isPaidSince: paidLookup(history, state, 'all', { sinceMs }) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    onNotice(notice('store_unread', { name: store?.name ?? '', why }));
    return undefined;
  }
}
