import { setMaxListeners } from 'node:events';
import { rm } from 'node:fs/promises';
import pLimit from 'p-limit';
import type { Clock } from '../../platform/waiting/clock.js';
import { isTransient, transientWaitMs } from '../http/reply.js';
import type { AnswerCache } from '../storage/answer-cache.js';
import { type Batch, removeBatchFiles } from '../storage/batch.js';
import type { VerdictCount } from '../storage/events.js';
import { ResultCaches } from '../storage/result-caches.js';
import type { Store } from '../storage/store.js';
import type { VerificationEngine } from '../verification/engine.js';
import { offlineEngine } from '../verification/offline-engine.js';
import { prepareContent } from './parse-and-dedupe.js';
import { afterRequests, createShortestJobFirst } from './shortest-job-first.js';
import { keepAnswers, newlyAnswered, reusedAnswers, verifyContent } from './verify-content.js';
import { verifyLive } from './verify-live.js';

interface BatchJobsOptions {
  readonly store: Store;
  readonly caches: ResultCaches;
  readonly answers: AnswerCache;
  readonly engine: VerificationEngine;
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
  /** Shortest time of a batch in `parsing_content` after its preparation was requested. */
  readonly parseDelayMs: number;
  /** Shortest time of a batch in `verification_ongoing`. */
  readonly verifyDelayMs: number;
  readonly onError: (error: unknown) => void;
}

/** Batches in work at once: more would only use more memory. */
const mostAtOnce = 4;
/** An estimate: the number of lines is known only after reading. */
export const bytesALine = 24;
/** Batches that wait for others' answers at once: they cost little. */
const mostLive = 16;

/**
 * The work behind the requests: parsing and verification. {@link BatchJobs.resume} restarts what a kill has
 * interrupted, and temporary errors are retried; any other failure leaves the batch in `internal_error`.
 */
export class BatchJobs {
  readonly #options: BatchJobsOptions;
  readonly #work = createShortestJobFirst(mostAtOnce);
  readonly #liveSlots = pLimit(mostLive);
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #parsing = new Map<string, Promise<void>>();
  readonly #progress = new Map<string, number>();

  constructor(options: BatchJobsOptions) {
    this.#options = options;
    // Every batch in work listens to it.
    setMaxListeners(0, this.#closing.signal);
  }

  resume(): void {
    for (const batch of this.#options.store.state.batches.values()) {
      if (batch.stage.name === 'parsing') this.parse(batch);
      // Another engine may have begun to overwrite the preparation's codes.
      if (batch.stage.name === 'verifying') void this.#run(batch, () => this.#verify(batch));
    }
  }

  parse(batch: Batch): void {
    const job = this.#run(batch, () => this.#parse(batch));
    this.#parsing.set(batch.uuid, job);
    void job.then(() => {
      if (this.#parsing.get(batch.uuid) === job) this.#parsing.delete(batch.uuid);
    });
  }

  /** Resolves when a batch's parsing, if any, is over. */
  async parsed(uuid: string): Promise<void> {
    await this.#parsing.get(uuid);
  }

  /** Lines or addresses done for a batch; 0 without work. */
  progress(uuid: string): number {
    return this.#progress.get(uuid) ?? 0;
  }

  /** Verifies a batch that has just entered `verifying`. */
  verify(batch: Batch): void {
    const { engine } = this.#options;
    const prepared = 'prepared' in batch.stage ? batch.stage.prepared : undefined;
    const judged = engine === offlineEngine ? prepared?.verdicts : undefined;
    void this.#run(batch, () => this.#verify(batch, judged));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  #run(batch: Batch, work: () => Promise<void>): Promise<void> {
    const job = this.#persist(batch, work).catch((error: unknown) => this.#fail(batch, error));
    this.#running.add(job);
    void job.then(() => {
      this.#running.delete(job);
      this.#progress.delete(batch.uuid);
    });
    return job;
  }

  async #persist(batch: Batch, work: () => Promise<void>): Promise<void> {
    const { clock, onError } = this.#options;
    const { signal } = this.#closing;
    for (let repetition = 1; ; repetition += 1) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted || !isTransient(error)) throw error;
        onError(error);
        await clock.sleep(transientWaitMs(repetition), signal);
        // The error may have come after the end, or the batch was changed meanwhile.
        if (!this.#isCurrent(batch)) return;
      }
    }
  }

  #isCurrent({ uuid, revision, stage }: Batch): boolean {
    const now = this.#options.store.state.batches.get(uuid);
    return now?.revision === revision && now.stage.name === stage.name;
  }

  async #parse(batch: Batch): Promise<void> {
    const { store, parseDelayMs } = this.#options;
    const { stage, parameters } = batch;
    if (stage.name !== 'parsing') return;
    const files = store.files(batch);
    const left = () => batch.bytes / bytesALine - this.progress(batch.uuid);
    const prepared = await this.#work.run(left, async (nextTurn) => {
      this.#closing.signal.throwIfAborted();
      return prepareContent({
        files,
        parameters,
        uploadBytes: batch.bytes,
        salt: store.salt,
        durable: store.isDurable,
        signal: this.#closing.signal,
        nextTurn,
        onProgress: (lines) => this.#progress.set(batch.uuid, lines),
      });
    });
    await this.#waitSince(stage.sinceMs, parseDelayMs);
    await this.#finish(batch, async (atMs) => {
      const verdicts = [...prepared.verdicts];
      await store.commit({ ...prepared, event: 'parsed', uuid: batch.uuid, at: atMs, verdicts });
    });
  }

  /** @param judged the verdicts of the preparation's codes, if those stay */
  async #verify(batch: Batch, judged?: readonly VerdictCount[]): Promise<void> {
    const { store, engine, caches, answers, clock, verifyDelayMs } = this.#options;
    const { uuid, stage, parameters, account } = batch;
    if (stage.name !== 'verifying') return;
    const files = store.files(batch);
    const { signal } = this.#closing;
    const { addresses } = stage.prepared;
    const group = { type: parameters.type, country: parameters.target_country };
    const shared = {
      files,
      durable: store.isDurable,
      signal,
      onProgress: (done: number) => this.#progress.set(uuid, done),
    };
    if (judged) shared.onProgress(addresses);
    const work = async (nextTurn: () => Promise<void>): Promise<readonly VerdictCount[]> => {
      signal.throwIfAborted();
      const live = engine.live?.(group, signal);
      if (live === undefined) return verifyContent({ ...shared, parameters, engine, nextTurn });
      const known = reusedAnswers(files, addresses, answers);
      return verifyLive({ ...shared, addresses, live, known });
    };
    const verdicts = judged ?? (await this.#judge(batch, addresses, work));
    await this.#waitSince(stage.sinceMs, verifyDelayMs);
    // Before the event: after a kill in between, the verification is repeated and the caches get the same
    // addresses twice, which changes nothing.
    const nowMs = clock.wallNow();
    const verified = engine.live
      ? newlyAnswered(files, addresses, answers)
      : ResultCaches.readKeys(files.keys);
    await caches.remember(verified, { account, nowMs, isShared: parameters.use_global_cache });
    if (engine.live) {
      const found = verdicts.map(({ verdict }) => verdict);
      await keepAnswers(files, { addresses, verdicts: found, cache: answers, nowMs });
    }
    await this.#finish(batch, async (atMs) => {
      await store.commit({ event: 'verified', uuid, at: atMs, verdicts: [...verdicts] });
      if (engine.live) {
        await Promise.all([files.answers, files.verdicts].map((file) => rm(file, { force: true })));
      }
    });
  }

  async #judge<Result>(
    { uuid }: Batch,
    addresses: number,
    work: (nextTurn: () => Promise<void>) => Promise<Result>,
  ): Promise<Result> {
    // Work that waits for others does not block parsing.
    if (this.#options.engine.live) return this.#liveSlots(async () => work(afterRequests));
    return this.#work.run(() => addresses - this.progress(uuid), work);
  }

  /** Ends a job, unless its batch was changed or deleted meanwhile: then its result is dropped. */
  async #finish(begun: Batch, commit: (atMs: number) => Promise<void>): Promise<void> {
    const { store, mutex, clock } = this.#options;
    await mutex.take(begun.uuid, async () => {
      if (this.#isCurrent(begun)) await commit(clock.wallNow());
      else {
        const now = store.state.batches.get(begun.uuid);
        const files = store.files(begun);
        const left = now === undefined ? files : { ...files, upload: files.keys };
        // A launched batch was charged, and the ledger names its addresses.
        await removeBatchFiles(left, begun.stage.name === 'verifying');
      }
    });
  }

  async #fail(batch: Batch, error: unknown): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const { onError, store } = this.#options;
    // Of a batch that was changed or deleted meanwhile, files may be gone.
    if (this.#isCurrent(batch)) onError(error);
    try {
      await this.#finish(batch, async (atMs) => {
        await store.commit({ event: 'failed', uuid: batch.uuid, at: atMs });
      });
    } catch (second) {
      // The batch stays unchanged, and the next start resumes it.
      onError(second);
    }
  }

  /** Waits no longer than the delay, even if the clock was set back. */
  async #waitSince(sinceMs: number, delayMs: number): Promise<void> {
    const { clock } = this.#options;
    const left = Math.min(sinceMs + delayMs - clock.wallNow(), delayMs);
    if (left > 0) await clock.sleep(left, this.#closing.signal);
  }
}

/** Serialises work for one name; other names continue meanwhile. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  take<Result>(name: string, act: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const turn = before.then(act, act);
    // A failed turn is its caller's concern; the next one only waits for its end.
    const ended = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(name, ended);
    void ended.then(() => {
      if (this.#last.get(name) === ended) this.#last.delete(name);
    });
    return turn;
  }
}
