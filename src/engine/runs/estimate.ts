import { verificationTypes, type VerificationType } from '../../contract/enums.js';
import { systemClock } from '../../platform/waiting/clock.js';
import type { Batch } from '../batches/batch.js';
import { checkHistoryService } from '../plan/result-cache.js';
import { settledOutcome } from '../plan/address-book.js';
import { countVerified, namedColumns } from '../columns/column-layout.js';
import { validateUnsplit, askedSource } from './planning/split-cells.js';
import { defaults } from '../driver/driver-options.js';
import { callingCodeNotices, doubtfulColumns } from '../plan/column-quality.js';
import { checkCountries, Plan } from '../plan/plan.js';
import { checkOptions } from '../../platform/check-options.js';
import type { Needed } from '../../platform/option-kinds.js';
import type { TargetChoice } from '../streams/stream-options.js';
import { comparedSource, namedSource } from '../../lists/rows/sources/derived-sources.js';
import { budgetNotices, type LeftToSend, needOf, nothingLeft, readCredits } from './credits.js';
import {
  askedOptions,
  type Estimate,
  type GroupEstimate,
  type TypeEstimate,
} from '../summary/summary.js';
import { columnHints } from '../summary/build-summary.js';
import { openList, planEntryOf, startValidating } from './planning/open-list.js';
import { readShared } from './reporting/read-status.js';
import { noticed, observedProgress } from './reporting/run-progress.js';
import { CalledBack } from '../../platform/waiting/promises.js';
import { MisspeltDomains } from '../summary/outcome-tally.js';
import { RejectedCells } from '../summary/rejected-cells.js';
import type { EstimateSettings } from './options/run-options.js';
import { sinkOf, sourceOf, type SourceInput } from './options/source-and-sink.js';
import { estimateShape } from './options/option-shapes.js';
import { leftOfShared } from './resume/left-to-send.js';
import { UnfinishedComparison } from './resume/compare-unfinished.js';
import { systemFiles } from '../../platform/files/file-system.js';
import { isSeenAtWork } from '../stores/directory/folders.js';
import type { FoundHeader } from '../../lists/rows/source.js';
import { readSuppressed } from './options/read-suppressed.js';
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
  const { client, history } = options;
  const calledBack = new CalledBack();
  const onProgress = observedProgress(calledBack.watch(options.onProgress));
  const { signal = new AbortController().signal } = options;
  const onChangedCell = calledBack.watch(options.onChangedCell);
  const onNotice = (given: Notice | string): void => onProgress(noticed(given));
  const service = options.serviceName ?? client?.baseUrl ?? '';
  checkHistoryService(history, service);
  checkCountries(options);
  const { batchSize = defaults.batchSize } = options;
  const asked = { ...options, signal, onProgress };
  const { suppressed, lists } = await readSuppressed(options.suppress, asked);
  const sink = options.sink === undefined ? undefined : sinkOf('sink', options.sink);
  const found = await sourceOf(options.source, options.sink);
  const named = namedSource(found, namedColumns(options));
  const isCompared = options.stateDir !== undefined && !named.keep;
  const source = askedSource(isCompared ? comparedSource(named) : named, options);
  await sink?.check(countVerified(options));
  const unfinished =
    options.stateDir === undefined
      ? undefined
      : await UnfinishedComparison.find(options.stateDir, {
          ...asked,
          source,
          sink,
          client,
          suppressed,
          batchSize,
          files: options.files ?? systemFiles,
          maxUnknown: undefined,
          ...(lists !== undefined && { decides: { ...options.decides, suppress: lists } }),
        });
  const headers: FoundHeader[] = [];
  const { reading, layout } = await openList(source, {
    ...asked,
    suppressed,
    onHeaderFound: (header) => headers.push(header),
  });
  await unfinished?.begin(layout);
  const { columns } = layout;
  const plan = new Plan({
    ...options,
    layout,
    suppressed,
    batchSize,
    storage: { append: () => undefined, open: () => [] },
    ...(onChangedCell && {
      onChanged: (cell, submitted, column) =>
        onChangedCell({ column: columns[column]?.name ?? '', cell, submitted }),
    }),
    ...(history && {
      seed: history.seed,
      recall: (outcomes) => history.recall(outcomes, false),
    }),
  });
  const validate = sink && (await startValidating({ sink, signal, onProgress }, reading, layout));
  const counter = new NotSubmitted(plan);
  const refused = new RejectedCells(plan);
  const misspelt = new MisspeltDomains(plan);
  // For anything but an email address, the service usually has no record.
  const unsettled = plan.outcomes.idOf('no_result', 'no_record');
  const batches: Batch[] = [];
  let rows = 0;
  for await (const chunk of reading.chunks) {
    signal.throwIfAborted();
    validateUnsplit(chunk, validate);
    const tickets = plan.planner.plan(chunk, 0);
    unfinished?.add(chunk);
    counter.add(tickets);
    const outcomes = tickets.map((ticket) => settledOutcome(ticket) ?? unsettled);
    refused.add(outcomes, { chunk, from: 0 });
    misspelt.add({ chunk, from: 0 }, chunk.length);
    for (const batch of plan.cutter.take()) batches.push(batch);
    rows += chunk.length;
    onProgress({ stage: 'reading', rows, addresses: plan.book.size });
  }
  await validate?.end?.();
  plan.cutter.closeAll();
  for (const batch of plan.cutter.take()) batches.push(batch);
  const doubtful = doubtfulColumns(plan);
  // Nothing has to be stopped: the caller reads the estimate.
  if (doubtful.length > 0) await options.onDoubtfulColumns?.(doubtful);
  const compared = await unfinished?.end(
    (planned) => planEntryOf(rows, { reading, found: headers }, planned),
    { plan, batches },
  );
  const left = compared?.left ??
    (await readLeftOfShared(options, onNotice)) ?? { ...nothingLeft, batches };
  for (const each of [...callingCodeNotices(plan), ...budgetNotices(left, options)]) {
    onNotice(each);
  }
  await calledBack.settled();
  const balance =
    client &&
    (await readCredits(client, { signal, clock: systemClock }, (why) =>
      onNotice(notice('balance_not_compared', { why })),
    ));
  const ofType = (type: VerificationType): TypeEstimate | null =>
    layout.columns.some((column) => column.type === type)
      ? typeEstimate(type, { plan, left, counter })
      : null;
  const trouble = refused.countries();
  const [email = null, phone = null] = verificationTypes.map(ofType);
  return {
    dry_run: true,
    input: source.name,
    output: sink?.name ?? null,
    service,
    rows,
    ...askedOptions(options),
    email,
    phone,
    columns: columns.map(({ name, type: of }, column) => ({
      name,
      type: of,
      ...columnHints(column, { plan, refused, misspelt }),
    })),
    ...(trouble && { countries: trouble }),
    ...(compared && { unfinished: compared.run }),
    ...(options.stateDir !== undefined &&
      (await isSeenAtWork(options.stateDir)) && { state_locked: true as const }),
    balance: balance ? { email: balance.email_credit, phone: balance.phone_credit } : null,
  };
}

/** @returns `undefined` where it has not begun, or is unknown */
async function readLeftOfShared(
  { store, retryFailed }: Pick<EstimateSettings, 'store' | 'retryFailed'>,
  onNotice: (given: Notice) => void,
): Promise<LeftToSend | undefined> {
  try {
    return store && leftOfShared(await readShared(store), { retryFailed });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    onNotice(notice('store_unread', { name: store?.name ?? '', why }));
    return undefined;
  }
}

function typeEstimate(
  type: VerificationType,
  {
    plan,
    left,
    counter,
  }: { readonly plan: Plan; readonly left: LeftToSend; readonly counter: NotSubmitted },
): TypeEstimate {
  const { submittable, addresses, recalled } = plan.planner.counts[type];
  const groups = new Map<string, GroupEstimate>();
  for (const batch of left.batches) {
    if (batch.group.type !== type) continue;
    const { country } = batch.group;
    const group = groups.get(country) ?? { country, addresses: 0, batches: 0 };
    groups.set(country, {
      country,
      addresses: group.addresses + batch.addresses,
      batches: group.batches + 1,
    });
  }
  return {
    addresses,
    from_history: recalled,
    duplicates: submittable - addresses,
    not_submitted: counter.of(type),
    groups: [...groups.values()],
    credits: needOf(left.batches, type).needed,
  };
}

/** Counts cells that cannot be sent. */
class NotSubmitted {
  readonly #plan: Plan;
  readonly #counts = { email: new Map<string, number>(), phone: new Map<string, number>() };

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  add(tickets: Uint32Array): void {
    const { columns } = this.#plan.layout;
    for (const [index, ticket] of tickets.entries()) {
      const outcome = settledOutcome(ticket);
      const type = columns[index % columns.length]?.type;
      if (outcome === undefined || type === undefined) continue;
      const { reason } = this.#plan.outcomes.get(outcome);
      this.#counts[type].set(reason, (this.#counts[type].get(reason) ?? 0) + 1);
    }
  }

  of(type: VerificationType): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts[type]);
  }
}
