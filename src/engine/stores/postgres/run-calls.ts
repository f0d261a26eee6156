import { randomUUID } from 'node:crypto';
import { gone, type Updates, type Token } from '../shared/store-protocol.js';
import {
  restored,
  type Answer,
  type UpdatePage,
  type StoreCalls,
  type Values,
} from './store-calls.js';

/** Calls the functions of a schema for one run, with what its process knows of it. */
export class RunCalls {
  readonly run: string;
  readonly owner = randomUUID();
  /** How messages call the run and its store. */
  readonly name: string;
  readonly #calls: StoreCalls;
  /** Which run of this name, and which log of the database, this process knows. */
  #life = '';
  #timeline = '';
  #salt = '';
  #server = '';
  /** The number of the latest entry that it has got. */
  #seen = 0;
  /** By claim: the number of its latest call that is written down. */
  readonly #written = new WeakMap<Token, number>();

  /** @param calls where a call goes that names no connection */
  constructor({ run, name }: { readonly run: string; readonly name: string }, calls: StoreCalls) {
    this.run = run;
    this.name = name;
    this.#calls = calls;
  }

  /** Which run of this name it is; nothing before it is joined. */
  get life(): string {
    return this.#life;
  }

  /** What fingerprints of keys are made with. */
  get salt(): string {
    return this.#salt;
  }

  /** Which start of the server it was when the run was joined. */
  get server(): string {
    return this.#server;
  }

  get seen(): number {
    return this.#seen;
  }

  /** @returns all that is written down of the run */
  async join(): Promise<Updates> {
    const joined = await this.call<Record<'life' | 'timeline' | 'salt' | 'server', string>>(
      'open',
      {
        run: this.run,
      },
    );
    this.#life = joined.life;
    this.#timeline = joined.timeline;
    this.#salt = joined.salt;
    this.#server = joined.server;
    this.#seen = 0;
    return this.rest({ entries: [], more: true }, 0);
  }

  /** @returns the updates of a page and of all after it */
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

  /** Does a step under a claim that writes nothing down. @returns whether the claim holds */
  async holds(token: Token, step: string, values: Values): Promise<boolean> {
    const answer = await this.under<{ lost?: boolean }>(token, step, values);
    return answer !== gone && answer.lost !== true;
  }

  /** Writes down a call under a claim. @returns whether the claim holds */
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
   * @param values `seen` where the updates are to begin earlier: another answer that has them may be on its way
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
        life: this.#life,
        timeline: this.#timeline,
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
