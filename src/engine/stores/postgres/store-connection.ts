import { backoffMs } from '../../../client/rate/rate-limiter.js';
import { ConfigurationError, DeadlineError } from '../../../platform/errors/errors.js';
import { SluiceError } from '../../../platform/errors/sluice-error.js';
import {
  beforeDeadline,
  type Clock,
  systemClock,
  systemRandom,
} from '../../../platform/waiting/clock.js';
import { InTurn, orAborted } from '../../../platform/waiting/promises.js';
import { refuseMissingPackage } from '../../../platform/optional-package.js';
import { openClient, type OpenClient } from '../../../lists/sql/postgres/client.js';
import { tlsWords } from '../../../lists/sql/database-url.js';
import { failureOf } from '../../../lists/sql/postgres/connect.js';

const pauses = { firstMs: 100, longestMs: 2000 };
/** A server that is away may not report it. */
const answerTimeoutMs = 30_000;

/** Errors that pass: of connections, of a server that starts or fails over (25006, 55000 of a standby), a deadlock. */
const passing = /^(?:08|57P|58|53|40)|^(?:25006|55000|55P03|57014)$/;

export interface StoreConnectionOptions {
  readonly url: string;
  readonly name: string;
  readonly giveUpAfterMs: number;
  /** Clock, for tests. @default the system's */
  readonly clock?: Clock | undefined;
}

/**
 * A connection that is renewed when lost. An unanswered statement is sent again: it must be idempotent. Each
 * is a transaction of its own without session state, so a pooler may run every statement on another server
 * connection.
 */
export class StoreConnection {
  readonly #options: StoreConnectionOptions;
  readonly #closing = new AbortController();
  readonly #turns = new InTurn();
  readonly #clock: Clock;
  /** Since when no statement was answered, in spite of tries. */
  #failingSince: number | undefined;
  #connecting: Promise<OpenClient> | undefined;
  #listener: ((payload: string | undefined) => void) | undefined;

  constructor(options: StoreConnectionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Sends a statement until it is answered.
   *
   * @param patienceMs how long it may fail, if the store may fail for longer. @default as long as the store
   *
   * @returns rows
   */
  async ask<Row extends object>(
    text: string,
    values: readonly unknown[] = [],
    patienceMs = Infinity,
  ): Promise<readonly Row[]> {
    const { signal } = this.#closing;
    const giveUpAfterMs = Math.min(patienceMs, this.#options.giveUpAfterMs);
    // One try is made, even where nothing is waited for.
    const tryMs = Math.min(answerTimeoutMs, giveUpAfterMs || patienceMs);
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#turns.next(async () =>
          this.#askInTime<Row>(text, values, { giveUpAfterMs, tryMs }),
        );
      } catch (error) {
        if (signal.aborted || error instanceof SluiceError) throw error;
        if (!isTransient(error)) throw this.#refusal(error);
        const pauseMs = backoffMs(failures, pauses, systemRandom);
        if (pauseMs >= this.#leftMs(giveUpAfterMs)) throw this.#gaveUp(error, giveUpAfterMs);
        await this.#clock.sleep(pauseMs, signal);
      }
    }
  }

  /** Listens to the store's notifications from its next connection on; through a pooler there may be none. */
  listen(listener: (payload: string | undefined) => void): void {
    this.#listener = listener;
  }

  /** Ends pending statements, too. Never fails. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#connecting) await this.#drop(this.#connecting);
  }

  /** Time until statements have failed for so long, in milliseconds. */
  #leftMs(giveUpAfterMs: number): number {
    const now = this.#clock.now();
    return Math.max(0, (this.#failingSince ?? now) + giveUpAfterMs - now);
  }

  /** A server that does not answer one statement does not answer those that waited for it either. */
  async #askInTime<Row extends object>(
    text: string,
    values: readonly unknown[],
    { giveUpAfterMs, tryMs }: { readonly giveUpAfterMs: number; readonly tryMs: number },
  ): Promise<readonly Row[]> {
    const leftMs = this.#leftMs(giveUpAfterMs);
    if (leftMs === 0 && this.#failingSince !== undefined) throw new LateAnswer();
    this.#failingSince ??= this.#clock.now();
    const ms = leftMs === 0 ? tryMs : Math.min(tryMs, leftMs);
    try {
      const rows = await this.#askOnce<Row>(text, values, ms);
      this.#failingSince = undefined;
      return rows;
    } catch (error) {
      if (!isTransient(error)) this.#failingSince = undefined;
      throw error;
    }
  }

  async #askOnce<Row extends object>(
    text: string,
    values: readonly unknown[],
    ms: number,
  ): Promise<readonly Row[]> {
    const connecting = (this.#connecting ??= this.#connect());
    try {
      return await this.#inTime(ms, async () => {
        const { client } = await connecting;
        const { rows } = await client.query<Row>({
          text,
          ...(values.length > 0 && { values: [...values] }),
        });
        return rows;
      });
    } catch (error) {
      // A lost one is closed by itself, which may take as long as its opening.
      if (sqlStateOf(error) === undefined || isGoodbye(error)) void this.#drop(connecting);
      throw error;
    }
  }

  async #inTime<Answer>(ms: number, work: () => Promise<Answer>): Promise<Answer> {
    return beforeDeadline(async (late) => orAborted(work(), late), {
      clock: this.#clock,
      ms,
      signal: this.#closing.signal,
      toError: () => new LateAnswer(),
    });
  }

  async #connect(): Promise<OpenClient> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const { default: pg } = await import('pg').catch(
      refuseMissingPackage({ by: 'A store in PostgreSQL', install: 'pg', driver: 'postgres' }),
    );
    const opened = await openClient(pg, this.#options.url, signal);
    if (!this.#listener) return opened;
    opened.client.on('notification', ({ payload }) => this.#listener?.(payload));
    try {
      await this.#inTime(answerTimeoutMs, async () => opened.client.query('listen sluice'));
    } catch (error) {
      // Where it may not listen, heartbeats bring the updates.
      if (sqlStateOf(error) !== undefined && !isGoodbye(error)) return opened;
      await opened.close();
      throw error;
    }
    return opened;
  }

  /** The next statement connects again. */
  async #drop(connecting: Promise<OpenClient>): Promise<void> {
    if (this.#connecting === connecting) this.#connecting = undefined;
    await connecting.then(
      async ({ close }) => close(),
      () => undefined,
    );
  }

  #refusal(error: unknown): ConfigurationError {
    const { words } = failureOf(error);
    return new ConfigurationError(`cannot use the store of ${this.#options.name}: ${words}`, {
      option: 'store',
      cause: new Error(words),
    });
  }

  #gaveUp(error: unknown, afterMs: number): DeadlineError {
    const words = error instanceof LateAnswer ? 'it does not answer' : failureOf(error).words;
    return new DeadlineError(
      `cannot reach the store of ${this.#options.name} (${words}); gave up after ${Math.round(afterMs / 1000)} s`,
      { code: 'store_unavailable' },
    );
  }
}

class LateAnswer extends Error {}

/** A server's error code; those of the system begin with an E, and none of these does. */
function sqlStateOf(error: unknown): string | undefined {
  const { code } = failureOf(error);
  return code !== undefined && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : undefined;
}

/** Whether the server ends the connection with this error. */
function isGoodbye(error: unknown): boolean {
  return /^(?:08|57P)/.test(sqlStateOf(error) ?? '');
}

function isTransient(error: unknown): boolean {
  const state = sqlStateOf(error);
  // A wrong certificate stays wrong.
  return state === undefined ? tlsWords(error) === undefined : passing.test(state);
}
