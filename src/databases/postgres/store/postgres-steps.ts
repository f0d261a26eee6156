import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { batchLabel } from '../../../batches/batch-label.js';
import type { Reservation } from '../../../batches/batch-claim.js';
import type { Batch } from '../../../batches/batch.js';
import type { PlanEntry, RunEntry } from '../../../runs/run-entries.js';
import type { RunNote } from '../../../runs/run-store.js';
import {
  gone,
  lastStep,
  type BatchRecord,
  type Beat,
  type Claimed,
  type News,
  type SharedSteps,
  type Token,
} from '../../../runs/shared-steps.js';
import { quoteName } from '../../names.js';
import { removed, restored, type Answer, type NewsPage } from './answers.js';
import { asciiJson } from './ascii-json.js';
import { callFunction, type Values } from './call-function.js';
import { prepareSchema } from './prepare-schema.js';
import { StoreConnection } from './store-connection.js';

export interface PostgresStepsOptions {
  readonly url: string;
  /** How messages call the run and its store. */
  readonly name: string;
  readonly schema: string;
  readonly run: string;
  readonly leaseMs: number;
  readonly giveUpAfterMs: number;
}

const blockBytes = 2 ** 20;
/** As many are asked for first; of all the others only where none of these is to be had. */
const firstWanted = 64;
/** Whoever goes does not wait for long: claims run out by themselves. */
const releasePatienceMs = 5000;

/** The steps of one process, as calls of the functions of a schema. */
export class PostgresSteps implements SharedSteps {
  readonly #options: PostgresStepsOptions;
  readonly #owner = randomUUID();
  readonly #host = hostname();
  readonly #calls: StoreConnection;
  /** Signs of life wait for nothing else. */
  readonly #beats: StoreConnection;
  /** Which run of this name, and which log of the database, this process knows. */
  #life = '';
  #timeline = '';
  /** The number of the latest entry that it has heard of. */
  #seen = 0;

  constructor(options: PostgresStepsOptions) {
    this.#options = options;
    this.#calls = new StoreConnection(options);
    this.#beats = new StoreConnection(options);
  }

  get name(): string {
    return this.#options.name;
  }

  async open(): Promise<News> {
    await prepareSchema(this.#calls, this.#options);
    return this.#join();
  }

  async #join(): Promise<News> {
    const { run } = this.#options;
    const joined = await this.#call<{ life: string; timeline: string }>('open', { run });
    this.#life = joined.life;
    this.#timeline = joined.timeline;
    this.#seen = 0;
    return this.#rest({ entries: [], more: true }, 0);
  }

  async begin(run: RunEntry, plan: PlanEntry, call: number): Promise<News> {
    const after = this.#seen;
    const begun = await this.#step<{ news: NewsPage }>('begin', {
      seen: after,
      call,
      entry: asciiJson(run),
      plan: asciiJson(plan),
    });
    if (begun === gone) throw removed(this.name);
    return this.#rest(begun.news, after);
  }

  async append(note: RunNote, call: number): Promise<void> {
    const values = { seen: this.#seen, call, entry: asciiJson(note) };
    if ((await this.#step('append', values)) === gone) throw removed(this.name);
  }

  async claim(wanted: readonly Batch[], after: number): Promise<Claimed> {
    const first = await this.#claim(wanted.slice(0, firstWanted), after);
    const isMore = wanted.length > firstWanted && first.isProven;
    if (first.token || !isMore) return first;
    return this.#claim(wanted, after);
  }

  async join(after: number): Promise<Claimed> {
    return this.#claimOf([{ label: lastStep, type: '', addresses: 0 }], after);
  }

  async #claim(wanted: readonly Batch[], after: number) {
    const asked = wanted.map((batch) => ({
      label: batchLabel(batch),
      type: batch.lane.type,
      addresses: batch.addresses,
    }));
    return this.#claimOf(asked, after);
  }

  async #claimOf(
    asked: readonly { label: string; type: string; addresses: number }[],
    after: number,
  ): Promise<Claimed & { readonly isProven: boolean }> {
    const answer = await this.#step<{
      batch?: string | null;
      epoch: number;
      proven: boolean;
      news: NewsPage;
    }>('claim', {
      seen: after,
      lease_ms: this.#leaseMs,
      batches: asked.map(({ label }) => label),
      types: asked.map(({ type }) => type),
      addresses: asked.map(({ addresses }) => addresses),
    });
    if (answer === gone) return { token: undefined, isProven: false, news: gone };
    const { batch, epoch, proven, news } = answer;
    return {
      token: typeof batch === 'string' ? { label: batch, epoch } : undefined,
      isProven: proven,
      news: await this.#rest(news, after),
    };
  }

  async record(token: Token, record: BatchRecord): Promise<boolean> {
    return this.#holds(token, 'record', {
      call: record.call,
      entry: asciiJson(record.entry),
      ended: record.hasEnded,
      paid: record.mayBePaid,
      proven: record.isProven,
    });
  }

  async confirm(token: Token): Promise<boolean> {
    return this.#holds(token, 'confirm', { lease_ms: this.#leaseMs });
  }

  async reserve(token: Token, most: number): Promise<Reservation | undefined> {
    const answer = await this.#under<Reservation>(token, 'reserve', {
      most: Number.isFinite(most) ? most : null,
    });
    return answer === gone || 'lost' in answer ? undefined : answer;
  }

  async keepResults(token: Token, bytes: Uint8Array): Promise<boolean> {
    for (let part = 0; part * blockBytes < bytes.length; part += 1) {
      const block = Buffer.from(bytes.subarray(part * blockBytes, (part + 1) * blockBytes));
      if (!(await this.#holds(token, 'keep_results', { part, bytes: block }))) return false;
    }
    return true;
  }

  async results(label: string): Promise<Uint8Array | undefined> {
    const { run, schema } = this.#options;
    const rows = await this.#calls.ask<{ bytes: Buffer }>(
      `select bytes from ${quoteName(schema)}.results where run = $1 and batch = $2 order by part`,
      [run, label],
    );
    return rows.length === 0 ? undefined : Buffer.concat(rows.map(({ bytes }) => bytes));
  }

  async beat(tokens: readonly Token[], after: number): Promise<Beat> {
    const answer = await this.#step<{
      held: readonly string[];
      mayClaim: boolean;
      news: NewsPage;
    }>(
      'beat',
      {
        seen: after,
        lease_ms: this.#leaseMs,
        batches: tokens.map(({ label }) => label),
        epochs: tokens.map(({ epoch }) => epoch),
        host: this.#host,
      },
      this.#beats,
    );
    if (answer === gone) return { lost: tokens, mayClaim: false, news: gone };
    const { held, mayClaim, news } = answer;
    const kept = new Set(held);
    const lost = tokens.filter(({ label }) => !kept.has(label));
    return { lost, mayClaim, news: await this.#rest(news, after, this.#beats) };
  }

  async startOver(): Promise<News> {
    await this.drop();
    return this.#join();
  }

  async clear(): Promise<void> {
    await this.#call('clear', { run: this.#options.run, life: this.#life });
  }

  async drop(): Promise<void> {
    await this.#call('drop_run', { run: this.#options.run, life: this.#life });
  }

  async close(): Promise<void> {
    const { run } = this.#options;
    await this.#beats.close();
    // Whoever was never let in has nothing to let go of.
    if (this.#life !== '') {
      const release = { run, owner: this.#owner };
      await this.#call('release', release, this.#calls, releasePatienceMs).catch(() => undefined);
    }
    await this.#calls.close();
  }

  get #leaseMs(): number {
    return Math.round(this.#options.leaseMs);
  }

  /** What there is beyond the first page of news. */
  async #rest(first: NewsPage, after: number, connection = this.#calls): Promise<News> {
    const all = [...first.entries];
    let { more } = first;
    while (more) {
      const page = await this.#call<NewsPage>(
        'news',
        { run: this.#options.run, after: all.at(-1)?.seq ?? after },
        connection,
      );
      all.push(...page.entries);
      ({ more } = page);
    }
    this.#seen = Math.max(this.#seen, all.at(-1)?.seq ?? 0);
    return all;
  }

  async #holds(token: Token, step: string, values: Values): Promise<boolean> {
    const answer = await this.#under<{ lost?: boolean }>(token, step, values);
    return answer !== gone && answer.lost !== true;
  }

  async #under<Content>({ label, epoch }: Token, step: string, values: Values) {
    return this.#step<Content>(step, { seen: this.#seen, batch: label, epoch, ...values });
  }

  /** @throws StateError when what this process knows of the run may be wrong */
  async #step<Content>(
    step: string,
    values: Values,
    connection = this.#calls,
  ): Promise<Content | typeof gone> {
    const answer = await this.#call<Answer<Content>>(
      step,
      {
        run: this.#options.run,
        life: this.#life,
        timeline: this.#timeline,
        owner: this.#owner,
        ...values,
      },
      connection,
    );
    if (answer.refused === undefined) return answer;
    if (answer.refused === 'gone') return gone;
    throw restored(this.name);
  }

  async #call<Content>(
    name: string,
    values: Values,
    connection = this.#calls,
    giveUpAfterMs?: number,
  ): Promise<Content> {
    const { schema } = this.#options;
    return callFunction<Content>(connection, { schema, name }, values, giveUpAfterMs);
  }
}
