import { quoteName } from '../../../lists/sql/tables/table-plan.js';
import { DeadlineError, StateError } from '../../../platform/errors/errors.js';
import { type Updates, type WholeCopy, gone, type Token } from '../shared/store-protocol.js';
import { prepareSchema } from './schema.js';
import { StoreConnection, type StoreConnectionOptions } from './store-connection.js';
import { randomUUID } from 'node:crypto';

/** A function's answer: its content, or why the process must not continue. */
export type Answer<Content> = Content & { readonly refused?: 'restored' | 'gone' };

export interface UpdatePage {
  readonly entries: Updates;
  readonly more: boolean;
}

/** @param name the run and its store in messages */
function restored(name: string): DeadlineError {
  return new DeadlineError(
    `the database of ${name} was restored, or another server has taken its place: what was written down last may be missing. Start the command again: it compares the run with the service first`,
    { code: 'store_restored' },
  );
}

export function removed(name: string): StateError {
  return new StateError(`${name} was removed while this process worked on it`, {
    code: 'state_mismatch',
  });
}

/** JSON in ASCII, which databases of any encoding can store. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007F-\uFFFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Named arguments of a function. */
export type Values = Readonly<Record<string, unknown>>;

/** The calls of a process to a store: each is a transaction of its own, and repeated until it is answered. */
export interface StoreCalls {
  /** Creates or updates the functions. */
  prepare(): Promise<void>;

  /**
   * Calls a function of the store's schema.
   *
   * @param giveUpAfterMs how long it may fail. @default the store's own limit
   *
   * @returns its answer; nothing for NULL
   */
  call<Content>(name: string, values: Values, giveUpAfterMs?: number): Promise<Content>;

  /**
   * @param listener called with the run of each new entry, and with announcements, where the server can
   * notify
   */
  listen?(listener: (payload: string | undefined) => void): void;

  notify?(payload: string): Promise<void>;

  /** @returns the stored blocks of a run or of one of its batches, in order */
  kept(table: 'results' | 'recalled', run: string, label?: string): Promise<readonly Uint8Array[]>;

  /** @returns the number of parts of a run's source copy, once it is complete */
  copied(run: string, life: string): Promise<WholeCopy | undefined>;

  copyPart(run: string, part: number): Promise<CopyPart | undefined>;

  /** Ends pending calls, too. Never fails. */
  close(): Promise<void>;
}

/** A notification that takes too long is dropped: its entry is recorded anyway. */
const notifyPatienceMs = 1000;

export interface CopyPart {
  /** CRC-32 of the bytes. */
  readonly checksum: number;
  readonly bytes: Uint8Array;
}

/** The functions of a schema in PostgreSQL. */
export class SchemaCalls implements StoreCalls {
  readonly #options: StoreConnectionOptions & { readonly schema: string };
  readonly #connection: StoreConnection;

  constructor(options: StoreConnectionOptions & { readonly schema: string }) {
    this.#options = options;
    this.#connection = new StoreConnection(options);
  }

  async prepare(): Promise<void> {
    await prepareSchema(this.#connection, this.#options);
  }

  async call<Content>(name: string, values: Values, giveUpAfterMs?: number): Promise<Content> {
    const names = Object.keys(values).map((key, index) => `p_${key} => $${index + 1}`);
    const [row] = await this.#connection.ask<{ answer: Content }>(
      `select ${this.#schema}.${name}(${names.join(', ')}) as answer`,
      Object.values(values),
      giveUpAfterMs,
    );
    // A function returns one row.
    return (row as { answer: Content }).answer;
  }

  listen(listener: (payload: string | undefined) => void): void {
    this.#connection.listen(listener);
  }

  async notify(payload: string): Promise<void> {
    await this.#connection.ask('select pg_notify($1, $2)', ['sluice', payload], notifyPatienceMs);
  }

  async kept(
    table: 'results' | 'recalled',
    run: string,
    label?: string,
  ): Promise<readonly Uint8Array[]> {
    const rows = await this.#connection.ask<{ bytes: Buffer }>(
      `select bytes from ${this.#schema}.${table}
       where run = $1${label === undefined ? '' : ' and batch = $2'} order by part`,
      label === undefined ? [run] : [run, label],
    );
    return rows.map(({ bytes }) => bytes);
  }

  async copied(run: string, life: string): Promise<WholeCopy | undefined> {
    const [found] = await this.#connection.ask<WholeCopy>(
      `select copied as parts, copied_of as of from ${this.#schema}.run
       where run = $1 and life = $2 and copied is not null`,
      [run, life],
    );
    return found;
  }

  async copyPart(run: string, part: number): Promise<CopyPart | undefined> {
    const [found] = await this.#connection.ask<{ checksum: string; bytes: Buffer }>(
      `select checksum, bytes from ${this.#schema}.copy where run = $1 and part = $2`,
      [run, part],
    );
    return found && { checksum: Number(found.checksum), bytes: found.bytes };
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  get #schema(): string {
    return quoteName(this.#options.schema);
  }
}

/** Calls of one run, with its process's knowledge of it. */
export class RunCalls {
  readonly run: string;
  readonly owner = randomUUID();
  /** The run and its store in messages. */
  readonly name: string;
  readonly #calls: StoreCalls;
  /** The run, log and server start that this process has joined. */
  #joined = { life: '', timeline: '', salt: '', server: '' };
  /** Number of the latest received entry. */
  #seen = 0;
  /** By claim: the number of its latest recorded call. */
  readonly #written = new WeakMap<Token, number>();

  /** @param calls the default connection */
  constructor({ run, name }: { readonly run: string; readonly name: string }, calls: StoreCalls) {
    this.run = run;
    this.name = name;
    this.#calls = calls;
  }

  /** Which run of this name it is; empty before it is joined. */
  get life(): string {
    return this.#joined.life;
  }

  /** Salt of key fingerprints. */
  get salt(): string {
    return this.#joined.salt;
  }

  /** The server start at which the run was joined. */
  get server(): string {
    return this.#joined.server;
  }

  get seen(): number {
    return this.#seen;
  }

  /** @returns all entries of the run */
  async join(): Promise<Updates> {
    this.#joined = await this.call('open', { run: this.run });
    this.#seen = 0;
    return this.rest({ entries: [], more: true }, 0);
  }

  /** @returns the updates of a page and all later ones */
  async rest(first: UpdatePage, after: number, connection = this.#calls): Promise<Updates> {
    const all = [...first.entries];
    let { more } = first;
    while (more) {
      const page = await this.call<UpdatePage>(
        'updates',
        { run: this.run, after: all.at(-1)?.seq ?? after },
        connection,
      );
      for (const entry of page.entries) all.push(entry);
      ({ more } = page);
    }
    this.#seen = Math.max(this.#seen, all.at(-1)?.seq ?? 0);
    return all;
  }

  /** A step under a claim without a record. @returns whether the claim is valid */
  async holds(token: Token, step: string, values: Values): Promise<boolean> {
    const answer = await this.under<{ lost?: boolean }>(token, step, values);
    return answer !== gone && answer.lost !== true;
  }

  /** Records a call under a claim. @returns whether the claim is valid */
  async writes(
    token: Token,
    step: string,
    values: Values & { readonly call: number },
  ): Promise<boolean> {
    const isHeld = await this.holds(token, step, values);
    if (isHeld) this.#written.set(token, values.call);
    return isHeld;
  }

  async under<Content>(token: Token, step: string, values: Values): Promise<Content | typeof gone> {
    const { label: batch, epoch } = token;
    const written = this.#written.get(token) ?? 0;
    return this.step<Content>(step, { batch, epoch, written, ...values });
  }

  /**
   * @param values `seen` where the updates are to begin, if earlier: another answer with them may be on its
   * way
   */
  async step<Content>(
    step: string,
    values: Values,
    connection = this.#calls,
  ): Promise<Content | typeof gone> {
    const answer = await this.call<Answer<Content>>(
      step,
      {
        run: this.run,
        life: this.#joined.life,
        timeline: this.#joined.timeline,
        owner: this.owner,
        seen: this.#seen,
        ...values,
      },
      connection,
    );
    if (answer.refused === undefined) return answer;
    if (answer.refused === 'gone') return gone;
    throw restored(this.name);
  }

  async call<Content>(
    name: string,
    values: Values,
    connection = this.#calls,
    giveUpAfterMs?: number,
  ): Promise<Content> {
    return connection.call<Content>(name, values, giveUpAfterMs);
  }
}
