import type { Writable } from 'node:stream';
import type { Batch, KnownBatch, RunProgress, Summary, TypeSummary } from '../index.js';
import type { Target } from './connect.js';

/** Plain lines come at most so often. */
const lineEveryMs = 5000;

/** What `sluice verify` says on standard error. Counts only: no cell of the input. */
export class Reporter {
  readonly #out: Writable;
  readonly #isQuiet: boolean;
  readonly #isVerbose: boolean;
  /** Batches that may have been paid, by their number and first line. */
  readonly #launched = new Map<string, Batch>();
  #latestLine = '';
  #latestLineMs = performance.now();

  constructor(out: Writable, options: { readonly isQuiet: boolean; readonly isVerbose: boolean }) {
    this.#out = out;
    this.#isQuiet = options.isQuiet;
    this.#isVerbose = options.isVerbose;
  }

  /** Nobody must take the local service's verdicts for a paid service's: said even when quiet. */
  target(target: Target): void {
    if (target.kind !== 'local' || target.isOnPurpose) return;
    this.#write(
      'no base URL is given: the local service verifies, offline and free of charge; set SLUICE_BASE_URL and SLUICE_API_KEY for a real one',
    );
  }

  streaming(): void {
    this.#say('this run streams: stopped, it cannot be resumed (a file output with -o can)');
  }

  /** A run was interrupted that keeps what it has. */
  resumable(): void {
    this.#say('run again to go on');
  }

  /** A run that streams has failed: what it paid is lost, and said even when quiet. */
  paidInVain(): void {
    const credits = { email: 0, phone: 0 };
    for (const { lane, addresses } of this.#launched.values()) credits[lane.type] += addresses;
    if (this.#launched.size === 0) return;
    this.#write(
      `launched before it failed: ${this.#launched.size} batches, ${credits.email} email and ${credits.phone} phone credits before refunds`,
    );
  }

  progress(progress: RunProgress): void {
    switch (progress.stage) {
      case 'reading':
        this.#sayNowAndThen(`read ${progress.rows} rows, ${progress.addresses} addresses`);
        return;
      case 'read':
        this.#say(
          `read ${progress.rows} rows: ${progress.addresses} addresses in ${progress.batches} batches`,
        );
        return;
      case 'batch':
        this.#batch(progress);
        return;
      case 'stopped':
        this.#write(
          `stopped: ${progress.error.message}; what is not finished is written as failed`,
        );
        return;
      case 'left_behind':
        this.#write(`could not be deleted from the service: ${progress.names.join(', ')}`);
        return;
      case 'writing':
        this.#sayNowAndThen(`wrote ${progress.rows} rows`);
        return;
      case 'written':
        this.#say(`wrote ${progress.rows} rows`);
    }
  }

  finished(summary: Summary): void {
    for (const type of ['email', 'phone'] as const) {
      const counts = summary[type];
      if (counts) this.#say(`${type}: ${describeCounts(counts)}`);
      const credits = summary.credits[type];
      if (credits && credits.net !== null) {
        const spent = credits.spent === null ? '' : `${credits.spent} spent, `;
        const refunded = credits.refunded === null ? '' : `${credits.refunded} refunded, `;
        this.#say(`${type} credits: ${spent}${refunded}${credits.net} net`);
      }
    }
  }

  #batch({ batch, known, name }: Extract<RunProgress, { readonly stage: 'batch' }>): void {
    const key = `${batch.id} ${batch.part?.start ?? 0}`;
    if (mayBePaid(known)) this.#launched.set(key, batch);
    else this.#launched.delete(key);
    const uuid = 'uuid' in known && known.uuid !== undefined ? ` (${known.uuid})` : '';
    if (known.stage === 'failed') {
      this.#say(`batch ${name}${uuid} failed: ${known.reason}; report it to the service's support`);
    } else if (this.#isVerbose) {
      this.#say(`batch ${name}${uuid}: ${known.stage}, ${batch.addresses} addresses`);
    }
  }

  #sayNowAndThen(line: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#latestLineMs < lineEveryMs) return;
    this.#say(line);
  }

  #say(line: string): void {
    if (this.#isQuiet || line === this.#latestLine) return;
    this.#latestLine = line;
    this.#latestLineMs = performance.now();
    this.#write(line);
  }

  #write(line: string): void {
    this.#out.write(`sluice: ${line}\n`);
  }
}

function mayBePaid(known: KnownBatch): boolean {
  if (known.stage === 'failed') return known.launched;
  const isLaunched = ['launching', 'verifying', 'done', 'exported'].includes(known.stage);
  return isLaunched || ('doubt' in known && known.doubt);
}

function describeCounts({ addresses, duplicates, buckets, verdicts }: TypeSummary): string {
  return [
    `${addresses} addresses (${duplicates} duplicates)`,
    `${buckets.verified} verified (${verdicts.valid} valid, ${verdicts.wrong} wrong, ${verdicts.unknown} unknown)`,
    `${buckets.no_result} without result`,
    `${buckets.not_submitted} not submitted`,
    `${buckets.failed} failed`,
  ].join(', ');
}
