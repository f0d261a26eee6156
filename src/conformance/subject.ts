import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, Exchange } from './exchange.js';
import {
  arrayOf,
  type JsonObject,
  objectOf,
  Deviation,
  expectThat,
  NotReached,
} from './expected.js';

type VerificationType = 'email' | 'phone';

export interface VerifiedBatch {
  readonly uuid: string;
  readonly addresses: readonly string[];
  readonly launch: JsonObject;
  readonly status: JsonObject;
  /** The balances before the launch, right after it, and at its end. */
  readonly balances: readonly [number, number, number];
}

interface SubjectOptions {
  readonly exchange: Exchange;
  /** How long a batch may take from one state to the next. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

const noCaches = { use_account_cache: 'false', use_global_cache: 'false' } as const;
const firstPollMs = 50;
const longestPollMs = 5000;
/** Longest wait at the end for what is still being verified. */
const longestCleanUpMs = 30_000;
const cleanUpPollMs = 200;

/** The checked service with what the checks share: each batch is made once. */
export class Subject {
  readonly ask: Exchange;
  /** Words that were in `status` of a batch. */
  readonly statusesSeen = new Set<string>();
  readonly #options: SubjectOptions;
  readonly #mark = randomUUID().slice(0, 8);
  readonly #made = new Set<string>();
  readonly #shared = new Map<string, Promise<unknown>>();
  #count = 0;

  constructor(options: SubjectOptions) {
    this.#options = options;
    this.ask = options.exchange;
  }

  newName(): string {
    this.#count += 1;
    return `sluice-conformance-${this.#mark}-${this.#count}`;
  }

  /** Addresses that nobody has verified before, in an unused domain or range. */
  newAddresses(type: VerificationType, count: number): readonly string[] {
    return Array.from({ length: count }, () => {
      this.#count += 1;
      if (type === 'email') return `conformance-${this.#mark}-${this.#count}@example.com`;
      // 555-0100 to 555-0199 are reserved for examples in each area of the North American plan.
      return `+1${202 + (this.#count % 7) * 100}55501${String(this.#count % 100).padStart(2, '0')}`;
    });
  }

  /** An upload form with the required fields; others are added, replaced, or removed with null. */
  form(
    fields: Readonly<Record<string, string | null>> = {},
    content: string | null = this.newAddresses('email', 1).join('\n'),
  ): FormData {
    const form = new FormData();
    const all = { name: this.newName(), type: 'email', target_country: 'US', ...fields };
    for (const [name, value] of Object.entries(all)) if (value !== null) form.set(name, value);
    if (content !== null) {
      form.set('file', new Blob([content], { type: 'text/plain' }), 'batch.txt');
    }
    return form;
  }

  /** Uploads, and remembers the batch for the clean-up. */
  async upload(form: FormData): Promise<Answer> {
    const answer = await this.ask('POST', '/v1/batch', { form });
    if (answer.status === 200) {
      const name = form.get('name');
      const uuid = typeof name === 'string' ? await this.#find(name) : undefined;
      if (uuid !== undefined) this.#made.add(uuid);
    }
    return answer;
  }

  async newBatch(fields: Readonly<Record<string, string>> = {}, content?: string): Promise<string> {
    const name = this.newName();
    const answer = await this.upload(this.form({ ...fields, name }, content));
    expectThat(answer.status === 200, `an upload was answered with ${answer.status}`);
    // The answer's fields are not shown: the list's are.
    const uuid = await this.#find(name);
    if (uuid === undefined) throw new Deviation('an uploaded batch is not in the list');
    return uuid;
  }

  async status(uuid: string): Promise<JsonObject> {
    const status = objectOf(await this.ask('GET', `/v1/batch/${uuid}`), 'the status');
    this.statusesSeen.add(String(status['status']));
    return status;
  }

  async until(uuid: string, ...wanted: readonly string[]): Promise<JsonObject> {
    const { patienceMs, signal } = this.#options;
    const endsAt = performance.now() + patienceMs;
    for (let pollMs = firstPollMs; ; pollMs = Math.min(longestPollMs, pollMs * 1.5)) {
      const status = await this.status(uuid);
      if (wanted.includes(String(status['status']))) return status;
      if (status['status'] === 'internal_error') {
        throw new NotReached(`batch ${uuid} ended in internal_error`);
      }
      if (performance.now() > endsAt) {
        throw new NotReached(`batch ${uuid} stays in ${String(status['status'])}`);
      }
      await wait(pollMs, undefined, { signal });
    }
  }

  async details(uuid: string): Promise<JsonObject> {
    return objectOf(await this.ask('GET', `/v1/batch/${uuid}/details`), 'details');
  }

  async launch(uuid: string): Promise<JsonObject> {
    return objectOf(await this.ask('POST', `/v1/batch/${uuid}`), 'the launch');
  }

  async prepare(uuid: string): Promise<JsonObject> {
    const answer = objectOf(await this.ask('PATCH', `/v1/batch/${uuid}`), 'PATCH');
    await this.until(uuid, 'ready_for_verification');
    return answer;
  }

  async balance(type: VerificationType): Promise<number> {
    const credits = objectOf(await this.ask('GET', '/v1/account/credits'), 'the balance');
    return Number(credits[`${type}_credit`]);
  }

  /** A batch in `ready_for_verification`, shared by the checks that change nothing. */
  ready(): Promise<{ readonly uuid: string; readonly address: string }> {
    return this.#once('ready', async () => {
      const [address = ''] = this.newAddresses('email', 1);
      const uuid = await this.newBatch({}, address);
      await this.prepare(uuid);
      return { uuid, address };
    });
  }

  /** A batch that is never launched, whose parameters the checks may change. */
  spare(): Promise<string> {
    return this.#once('spare', async () => this.newBatch());
  }

  /** Two new addresses of a type, verified without caches: that costs two credits. */
  verified(type: VerificationType): Promise<VerifiedBatch> {
    return this.#once(`verified ${type}`, async () =>
      this.#verify(type, this.newAddresses(type, 2), noCaches),
    );
  }

  /** The first of them once more, with the caches as they are by default. */
  again(): Promise<VerifiedBatch> {
    return this.#once('again', async () => {
      const { addresses } = await this.verified('email');
      return this.#verify('email', addresses.slice(0, 1), {});
    });
  }

  /** A new address, whose batch is launched so many times at once: that costs one credit. */
  async launchedAtOnce(
    times: number,
  ): Promise<{ readonly answers: readonly JsonObject[]; readonly cost: number }> {
    const uuid = await this.newBatch(noCaches);
    await this.prepare(uuid);
    const before = await this.balance('email');
    const answers = await Promise.all(
      Array.from({ length: times }, async () => this.ask('POST', `/v1/batch/${uuid}`)),
    );
    const launches = answers.map((answer) => objectOf(answer, 'a launch'));
    // It may not have been launched, whatever the answers say.
    const { status } = await this.status(uuid);
    if (status !== 'ready_for_verification') await this.until(uuid, 'verification_done');
    return { answers: launches, cost: before - (await this.balance('email')) };
  }

  async exported(uuid: string, query = ''): Promise<JsonObject> {
    const path = `/v1/batch/${uuid}/export?format=json${query}`;
    return objectOf(await this.ask('GET', path), 'the export');
  }

  async cleanUp(): Promise<readonly string[]> {
    const left: string[] = [];
    for (const uuid of this.#made) {
      if (await this.#isDeleted(uuid)) continue;
      // Deletion may be refused while it is processed.
      await this.#untilIdle(uuid);
      if (!(await this.#isDeleted(uuid))) left.push(uuid);
    }
    return left;
  }

  async #isDeleted(uuid: string): Promise<boolean> {
    const { status } = await this.ask('DELETE', `/v1/batch/${uuid}`);
    return status === 200 || status === 404;
  }

  async #untilIdle(uuid: string): Promise<void> {
    const { patienceMs, signal } = this.#options;
    const endsAt = performance.now() + Math.min(patienceMs, longestCleanUpMs);
    while (performance.now() < endsAt) {
      const status = await this.status(uuid);
      if (status['status'] !== 'verification_ongoing') return;
      await wait(cleanUpPollMs, undefined, { signal });
    }
  }

  async #verify(
    type: VerificationType,
    addresses: readonly string[],
    fields: Readonly<Record<string, string>>,
  ): Promise<VerifiedBatch> {
    const uuid = await this.newBatch({ type, ...fields }, addresses.join('\n'));
    await this.prepare(uuid);
    const before = await this.balance(type);
    const launch = await this.launch(uuid);
    const after = await this.balance(type);
    const status = await this.until(uuid, 'verification_done');
    return { uuid, addresses, launch, status, balances: [before, after, await this.balance(type)] };
  }

  async #find(name: string): Promise<string | undefined> {
    const seen = new Set<unknown>();
    for (let offset = 0; ; offset += 1000) {
      const page = await this.ask('GET', `/v1/batch?limit=1000&offset=${offset}`);
      const batches = arrayOf(page, 'the list');
      const found = batches.find((batch) => batch['name'] === name)?.['batch_uuid'];
      if (typeof found === 'string') return found;
      // Pages that go on for ever are no reason to read for ever.
      const before = seen.size;
      for (const batch of batches) seen.add(batch['batch_uuid']);
      if (seen.size === before) return undefined;
    }
  }

  async #once<Result>(name: string, make: () => Promise<Result>): Promise<Result> {
    const made = this.#shared.get(name) ?? make();
    this.#shared.set(name, made);
    return made as Promise<Result>;
  }
}

/**
 * Verifies one address, which costs one credit. The body's fields are not shown: the address is sent under
 * the name of the records' field, with type and country.
 */
export async function unitAnswer(subject: Subject): Promise<Answer> {
  const [email] = subject.newAddresses('email', 1);
  const json = { type: 'email', email, target_country: 'US' };
  const answer = await subject.ask('POST', '/v1/unit', { json });
  if (answer.status === 400 || answer.status === 422) {
    throw new NotReached('the body of a unit verification is not shown, and this one was refused');
  }
  return answer;
}
