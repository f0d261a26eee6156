import { randomBytes, randomInt } from 'node:crypto';
import { LaunchGate } from '../batches/launch-gate.js';
import { systemClock } from '../client/clock.js';
import { isSluiceError } from '../errors/sluice-error.js';
import { defaults } from '../streams/defaults.js';
import { checkBatchSize, checkCount, checkCountry } from '../streams/plan.js';
import { readBalance, readBalanceAfter } from './balance.js';
import type { DrivenBatch } from './drive-log.js';
import { driveRun } from './drive-run.js';
import { ExportStore } from './export-store.js';
import { systemFiles } from './file-system.js';
import { readIntoBatches, type PassOne } from './pass-one.js';
import { writeJoined } from './pass-two.js';
import { checkSamePlan, checkSameRun, decidingOptions } from './resume.js';
import type { RunEntry } from './run-entries.js';
import type { RunOptions } from './run-options.js';
import { StateDirectory } from './state-directory.js';
import { summarize } from './summarize.js';
import type { Summary } from './summary.js';

/**
 * Verifies all rows of a source and writes them, enriched, to a sink. Durable: killed at any moment,
 * the same call goes on where it stopped, and pays for nothing twice.
 *
 * @throws ConfigurationError before anything is sent; StateError when the state directory belongs to
 *   another run or process; InputError, OutputError, ApiError, BudgetError, DeadlineError when it stops:
 *   call again to go on
 */
export async function run(options: RunOptions): Promise<Summary> {
  const country = checkCountry(options.country, options.countryColumn);
  const batchSize = checkBatchSize(options.batchSize);
  checkCount('concurrency', options.concurrency, defaults.concurrency);
  await options.sink.check();
  const files = options.files ?? systemFiles;
  const state = await StateDirectory.open(files, options.stateDir, {
    fresh: options.fresh ?? false,
  });
  let isRemovable = state.known.batches.size === 0;
  try {
    const summary =
      state.known.finished?.summary ??
      (await new Run(options, state, {
        country,
        batchSize,
        onSend: () => {
          isRemovable = false;
        },
        onRefused: () => {
          isRemovable = true;
        },
      }).toEnd());
    isRemovable = true;
    return summary as Summary;
  } finally {
    if (isRemovable) {
      await options.beforeRemoval?.();
      await state.remove();
    } else {
      await state.close();
    }
  }
}

interface Checked {
  readonly country: ReturnType<typeof checkCountry>;
  readonly batchSize: number;
  /** Called before the first thing is sent that a later process must know of. */
  onSend(): void;
  /** Called when the service has refused the run as a whole. */
  onRefused(): void;
}

class Run {
  readonly #options: RunOptions;
  readonly #state: StateDirectory;
  readonly #checked: Checked;
  readonly #signal: AbortSignal;
  readonly #startedMs = performance.now();

  constructor(options: RunOptions, state: StateDirectory, checked: Checked) {
    this.#options = options;
    this.#state = state;
    this.#checked = checked;
    this.#signal = options.signal ?? new AbortController().signal;
  }

  async toEnd(): Promise<Summary> {
    const entry = await this.#begin();
    const passOne = await this.#read(entry);
    const { onProgress } = this.#options;
    const { rows } = passOne.entry;
    onProgress?.({
      stage: 'read',
      rows,
      addresses: passOne.plan.book.size,
      batches: passOne.batches.length,
    });
    const balance = await readBalance(this.#options.client, this.#state, this.#signal);
    const batches = await this.#drive(entry, passOne);
    const tally = await writeJoined({
      source: passOne.source,
      sink: this.#options.sink,
      plan: passOne.plan,
      tickets: passOne.tickets,
      entry: passOne.entry,
      signal: this.#signal,
      onRows: (written) => onProgress?.({ stage: 'writing', rows: written }),
    });
    const summary = summarize({
      input: this.#options.source.name,
      output: this.#options.sink.name,
      service: entry.service,
      rows,
      seconds: (performance.now() - this.#startedMs) / 1000,
      plan: passOne.plan,
      tally,
      batches,
      balances: await readBalanceAfter(this.#options.client, balance, batches, this.#signal),
    });
    await this.#state.record({ entry: 'finished', summary: { ...summary } });
    onProgress?.({ stage: 'written', rows });
    return summary;
  }

  get #namePrefix(): string {
    return this.#options.batchName ?? defaults.batchName;
  }

  /** Begins a run, or takes up the one that the journal tells of. */
  async #begin(): Promise<RunEntry> {
    const { client, serviceName } = this.#options;
    const decides = decidingOptions(this.#options);
    const known = this.#state.known.run;
    if (known) {
      checkSameRun(known, { decides, service: serviceName ?? client.baseUrl });
      return known;
    }
    const seed = randomBytes(32).toString('hex');
    const entry: RunEntry = {
      entry: 'run',
      id: randomBytes(8).toString('hex'),
      seed,
      startedAt: new Date().toISOString(),
      service: serviceName ?? client.baseUrl,
      account: client.keyFingerprint(seed),
      decides,
    };
    await this.#state.record(entry);
    return entry;
  }

  async #read(entry: RunEntry): Promise<PassOne> {
    const { onProgress } = this.#options;
    const passOne = await readIntoBatches({
      source: this.#options.source,
      columns: this.#options,
      country: this.#checked.country,
      batchSize: this.#checked.batchSize,
      seed: Buffer.from(entry.seed, 'hex'),
      state: this.#state,
      files: this.#options.files ?? systemFiles,
      signal: this.#signal,
      onRows: (rows, addresses) => onProgress?.({ stage: 'reading', rows, addresses }),
    });
    const known = this.#state.known.plan;
    if (known) checkSamePlan(known, passOne.entry, this.#options.source.name);
    else await this.#state.record(passOne.entry);
    return passOne;
  }

  async #drive(entry: RunEntry, passOne: PassOne): Promise<readonly DrivenBatch[]> {
    const options = this.#options;
    this.#checked.onSend();
    try {
      return await driveRun({
        service: options.client,
        runId: entry.id,
        namePrefix: this.#namePrefix,
        settings: options.settings ?? {},
        pollIntervalMs: options.pollIntervalMs ?? defaults.pollIntervalMs,
        stageDeadlineMs: options.batchDeadlineMs ?? defaults.batchDeadlineMs,
        concurrency: options.concurrency ?? defaults.concurrency,
        gate: new LaunchGate({ maxCredits: options.maxCredits }),
        clock: options.clock ?? systemClock,
        random: options.random ?? systemRandom,
        signal: this.#signal,
        plan: passOne.plan,
        batches: passOne.batches,
        state: this.#state,
        exports: new ExportStore(options.files ?? systemFiles, this.#state.exportsPath),
        onBatch: (progress) => options.onProgress?.({ stage: 'batch', ...progress }),
      });
    } catch (error) {
      // Refused in its form, the run has nothing on the service that is worth going on with.
      if (isSluiceError(error, 'batch_refused')) this.#checked.onRefused();
      throw error;
    }
  }
}

function systemRandom(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
