import type { HeldCredits } from '../../batches/claim.js';
import type { RateUpdate } from '../../../client/rate/shared-rate.js';
import type { BatchEntry, FinishedEntry, PartEntry } from '../journal-entries.js';
import { DeadlineError, StateError } from '../../../platform/errors/errors.js';
import { randomUUID } from 'node:crypto';

/** The label of the output and the end of the run. */
export const outputStep = 'output';

export const copyStep = 'copy';

export interface WholeCopy {
  readonly parts: number;
  /** Identifies the original. */
  readonly of: string;
}

/** Identifies a claim of a batch or the output: each has its own number. */
export interface Token {
  readonly label: string;
  readonly epoch: number;
}

/** Numbered entries of the journal: later ones have greater numbers. */
export type Updates = readonly { readonly seq: number; readonly entry: unknown }[];

/** The known run is no longer there. */
export const gone = 'gone';

/** A record under a claim, with its effects on the store, which does not read entries. */
export interface BatchRecord {
  readonly entry: BatchEntry | PartEntry | FinishedEntry;
  /** Number among all records of this process: a repeated one is stored once. */
  readonly call: number;
  /** No process drives it any more. */
  readonly hasEnded: boolean;
  /** Its credits from now on. */
  readonly held: HeldCredits;
  /** The service accepts batches of this run. */
  readonly isProven: boolean;
}

export interface ReopenedBatch {
  readonly label: string;
  readonly entry: BatchEntry | PartEntry;
  readonly held: HeldCredits;
}

export interface Claimed {
  /** Absent where none was free. */
  readonly token: Token | undefined;
  /** A batch that is no longer claimed: within a minute of claiming it, five processes fell silent. */
  readonly breaking?: string | undefined;
  /** Where none was free: how long others have the batches without another sign of life. */
  readonly heldForMs?: number | null | undefined;
  /** Whether the service has accepted a batch of the run: until then only the first may be claimed. */
  readonly isProven: boolean;
  /** Whether the store was restarted since the process opened it. */
  readonly isRestarted?: boolean;
  readonly updates: Updates | typeof gone;
}

export interface Beat {
  /** Claims that another process may have. */
  readonly revoked: readonly Token[];
  /** Whether something is free to claim. */
  readonly mayClaim: boolean;
  /** Absent until it is joined. */
  readonly pace?: RateUpdate | null;
  /** Rows of the output written by another process. */
  readonly rowsWritten: number;
  readonly updates: Updates | typeof gone;
}

/** A function's answer: its content, or why the process must not continue. */
type Answer<Content> = Content & { readonly refused?: 'restored' | 'replaced' | 'gone' };

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

/** Another run has taken its place: the process has to begin again, as one that is started now. */
export class RunReplacedError extends StateError {
  constructor(name: string) {
    super(`${name} was replaced while this process worked on it`, { code: 'state_mismatch' });
  }
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

export type Values = Readonly<Record<string, unknown>>;

/** The calls of a process to a store: each is a transaction of its own, and repeated until it is answered. */
export interface StoreCalls {
  prepare(): Promise<void>;

  /**
   * Calls a function of the store's schema.
   *
   * @param patienceMs how long it may fail, if the store may fail for longer. @default as long as the store
   *
   * @returns its answer; nothing for NULL
   */
  call<Content>(name: string, values: Values, patienceMs?: number): Promise<Content>;

  /** @param listener called with the run of each new entry, and with announcements, where the server can notify */
  listen?(listener: (payload: string | undefined) => void): void;

  notify?(payload: string): Promise<void>;

  /** @returns the stored blocks of a run or of one of its batches, in order; none once another has its place */
  kept(
    table: 'results' | 'recalled',
    run: string,
    life: string,
    label?: string,
  ): Promise<readonly Uint8Array[]>;

  /** @returns the number of parts of a run's source copy, once it is complete */
  copied(run: string, life: string): Promise<WholeCopy | undefined>;

  copyPart(run: string, part: number): Promise<CopyPart | undefined>;

  /** Ends pending calls, too. Never fails. */
  close(): Promise<void>;
}

export interface CopyPart {
  readonly checksum: number;
  readonly bytes: Uint8Array;
}

/** Calls of one run, with its process's knowledge of it. */
export class RunCalls {
  readonly run: string;
  readonly owner = randomUUID();
  /** The run and its store in messages. */
  readonly name: string;
  readonly #calls: StoreCalls;
  /** The run, log and server start that this process has joined. */
  #joined = { life: '', timeline: '', salt: '', server: '', dropped: 0 };
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

  /** How many runs of this name the store has dropped before it. */
  get dropped(): number {
    return this.#joined.dropped;
  }

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

  async join(): Promise<Updates> {
    this.#joined = await this.call('open', { run: this.run });
    this.#seen = 0;
    return this.rest({ entries: [], more: true }, 0);
  }

  async rest(first: UpdatePage, after: number, connection = this.#calls): Promise<Updates> {
    const all = [...first.entries];
    let { more } = first;
    while (more) {
      const page = await this.call<UpdatePage>(
        'updates',
        { run: this.run, life: this.life, after: all.at(-1)?.seq ?? after },
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

  /** @param values `seen` where the updates are to begin, if earlier: another answer with them may be on its way */
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
    if (answer.refused === 'replaced') throw new RunReplacedError(this.name);
    throw restored(this.name);
  }

  async call<Content>(
    name: string,
    values: Values,
    connection = this.#calls,
    patienceMs?: number,
  ): Promise<Content> {
    return connection.call<Content>(name, values, patienceMs);
  }
}
