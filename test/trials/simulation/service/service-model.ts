import type { VerificationType } from '../../../../src/contract/enums.js';
import { verdictOf } from './verdict.js';
import { startOfWorld, type World } from '../world.js';

type Status =
  | 'parsing_content'
  | 'ready_for_verification'
  | 'verification_ongoing'
  | 'verification_done';

interface ModelBatch {
  readonly uuid: string;
  readonly name: string;
  readonly type: VerificationType;
  readonly country: string;
  readonly lines: readonly string[];
  /** By the service's own clock. */
  readonly createdAt: Date;
  /** Taken long after the process gave it up, or a second time: no process knows unless it is listed. */
  readonly isStray: boolean;
  wasListed: boolean;
  wasLaunched: boolean;
  status: Status;
  /** What the reading before the latest change would have said. */
  statusBefore: Status;
  /** When its present work ends; `undefined` while it waits to be asked. */
  workEndsAt: number | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface UploadForm {
  readonly fields: ReadonlyMap<string, string>;
  readonly file: string;
}

/**
 * The service by the specification (spec 3), and nothing more: written from its text and not from
 * the local service, so that both being wrong in the same way is unlikely.
 */
export class ServiceModel {
  readonly #world: World;
  readonly #batches = new Map<string, ModelBatch>();
  /** By type, country and address: how often it was charged. */
  readonly ledger = new Map<string, number>();
  /** By run and number of the batch: the uuids that were launched. */
  readonly #launched = new Map<string, Set<string>>();
  /** Asked before every launch whether the journal knows of it. */
  isElectionDurable: (uuid: string) => boolean = () => true;
  isUploadDurable: (name: string) => boolean = () => true;
  /** Asked at every charge whether the address may have been charged before. */
  mayChargeAgain: (key: string) => boolean = () => false;
  credit = Infinity;
  /** How long after its process was killed, or its connection broke, a request may still be carried out. */
  latestMs = 20_000;
  #uuids = 0;
  /** The first upload that was asked to be prepared. */
  #prepared: string | undefined;
  #launches = 0;

  readonly #clockSkewMs: number;
  readonly #parsesMs: number;
  readonly #verifiesMs: number;

  /**
   * @param options.clockSkewMs how far its clock is before that of the processes
   * @param options.parsesMs longest time that a batch takes to be parsed
   * @param options.verifiesMs longest time that a batch takes to be verified
   */
  constructor(
    world: World,
    options: {
      readonly clockSkewMs: number;
      readonly parsesMs?: number;
      readonly verifiesMs?: number;
    },
  ) {
    const { clockSkewMs, parsesMs = 1500, verifiesMs = 2500 } = options;
    this.#world = world;
    this.#clockSkewMs = clockSkewMs;
    this.#parsesMs = parsesMs;
    this.#verifiesMs = verifiesMs;
  }

  credits(): Answer {
    const credit = Math.min(this.credit, 1_000_000);
    return ok({ email_credit: credit, phone_credit: credit });
  }

  list(query: URLSearchParams): Answer {
    const limit = Number(query.get('limit') ?? 100);
    const offset = Number(query.get('offset') ?? 0);
    const from = Date.parse(query.get('from_date') ?? '') || -Infinity;
    const to = Date.parse(query.get('to_date') ?? '') || Infinity;
    const items = [...this.#batches.values()]
      .filter(({ createdAt }) => createdAt.getTime() >= from && createdAt.getTime() <= to)
      .slice(offset, offset + limit);
    for (const batch of items) batch.wasListed = true;
    return ok(
      items.map((batch) => ({
        batch_uuid: batch.uuid,
        name: batch.name,
        description: null,
        status: this.#look(batch),
        created_at: batch.createdAt.toISOString(),
        updated_at: batch.createdAt.toISOString(),
      })),
    );
  }

  /** @returns the answer, and the uuid in it */
  upload(
    { fields, file }: UploadForm,
    how: {
      readonly tellsUuid?: boolean;
      readonly tellsOther?: boolean;
      readonly isStray?: boolean;
    } = {},
  ): Answer {
    const { tellsUuid = true, tellsOther = false, isStray = false } = how;
    const name = fields.get('name') ?? '';
    const type = fields.get('type') === 'phone' ? 'phone' : 'email';
    const lines = file.split('\n').slice(0, -1);
    if (!file.endsWith('\n')) this.#world.violate(`${name}: the file's last line has no end`);
    if (new Set(lines).size !== lines.length) this.#world.violate(`${name}: repeated lines`);
    if (!this.isUploadDurable(name)) this.#world.violate(`${name} is not in the journal`);
    const uuid = this.#newUuid();
    this.#batches.set(uuid, {
      uuid,
      name,
      type,
      country: fields.get('target_country') ?? '',
      // Wrong formats are removed during preparation.
      lines: lines.filter((line) => type === 'phone' || line.includes('@')),
      createdAt: new Date(startOfWorld + this.#world.now + this.#clockSkewMs),
      isStray,
      wasListed: false,
      wasLaunched: false,
      status: 'parsing_content',
      statusBefore: 'parsing_content',
      workEndsAt: undefined,
    });
    this.#world.tell(`service: ${name} is ${uuid}`);
    // One that the process surely knows: it has asked for its preparation.
    const other = tellsOther ? this.#prepared : undefined;
    return ok(tellsUuid ? { status: 'ok', batch_uuid: other ?? uuid } : { status: 'ok' });
  }

  prepare(uuid: string): Answer {
    const batch = this.#batches.get(uuid);
    if (!batch) return notFound;
    this.#prepared ??= uuid;
    this.#look(batch);
    if (batch.status === 'parsing_content') {
      batch.workEndsAt ??= this.#world.now + this.#world.random.between(0, this.#parsesMs);
    }
    return ok({ status: 'ok' });
  }

  status(uuid: string, isLagging = false): Answer {
    const batch = this.#batches.get(uuid);
    if (!batch) return notFound;
    const now = this.#look(batch);
    const status = isLagging ? batch.statusBefore : now;
    batch.statusBefore = now;
    if (status !== 'verification_done') return ok({ status });
    const { type, lines } = batch;
    return ok({
      status,
      cost: {
        [`total_${type}_cost`]: lines.length,
        [`net_${type}_cost`]: lines.length,
        [`${type}_cache_account_return`]: 0,
        [`${type}_cache_global_return`]: 0,
      },
    });
  }

  launch(uuid: string): Answer {
    const batch = this.#batches.get(uuid);
    if (!batch) return notFound;
    switch (this.#look(batch)) {
      case 'parsing_content':
        return ok({ status: 'not_ready_for_verification' });
      case 'verification_ongoing':
        return ok({ status: 'verification_already_ongoing' });
      case 'verification_done':
        return ok({ status: 'verification_already_done' });
      case 'ready_for_verification':
        return this.#charge(batch);
    }
  }

  export(uuid: string): Answer {
    const batch = this.#batches.get(uuid);
    if (!batch) return notFound;
    if (this.#look(batch) !== 'verification_done') return { status: 400, body: '{"message":"no"}' };
    const { type, lines } = batch;
    return ok(Object.fromEntries(lines.map((line) => [line, verdictOf(type, line)])));
  }

  /** More of them than a batch has addresses. */
  exportOfStrangers(): Answer {
    const lines = Array.from({ length: 20 }, (_, index) => `stranger${index}@else.test`);
    return ok(Object.fromEntries(lines.map((line) => [line, verdictOf('email', line)])));
  }

  delete(uuid: string): Answer {
    const batch = this.#batches.get(uuid);
    if (!batch) return notFound;
    this.#batches.delete(uuid);
    return ok({});
  }

  /** Loses a batch. @returns its addresses, as in the ledger */
  lose(uuid: string): readonly string[] {
    const batch = this.#batches.get(uuid);
    this.#batches.delete(uuid);
    if (batch) this.#launchedOf(batch.name).clear();
    return batch?.lines.map((line) => keyOf(batch, line)) ?? [];
  }

  /** Uploads that nobody launched and nobody deleted, but for those that no process can know of. */
  get orphans(): readonly string[] {
    return this.#unlaunched
      .filter(({ isStray, wasListed }) => !isStray || wasListed)
      .map(({ name }) => name);
  }

  /** Nobody counts them any more: the run that they are of is over, or was dropped. */
  forgetOrphans(): void {
    for (const { uuid } of this.#unlaunched) this.#batches.delete(uuid);
  }

  get #unlaunched(): readonly ModelBatch[] {
    return [...this.#batches.values()].filter((batch) => !batch.wasLaunched);
  }

  /** How many of the launched batches are still there. */
  get launchedLeft(): number {
    return [...this.#batches.values()].filter(({ wasLaunched }) => wasLaunched).length;
  }

  get launched(): number {
    return this.#launches;
  }

  #charge(batch: ModelBatch): Answer {
    const { uuid, name, lines } = batch;
    if (!this.isElectionDurable(uuid)) {
      this.#world.violate(`${uuid} is launched before its election is durable in the journal`);
    }
    if (this.credit < lines.length) return { status: 402, body: '{"message":"no credits"}' };
    this.credit -= lines.length;
    const launched = this.#launchedOf(name);
    launched.add(uuid);
    if (launched.size > 1) this.#world.violate(`${name}: two uploads of one batch are launched`);
    for (const line of lines) {
      const key = keyOf(batch, line);
      const charges = (this.ledger.get(key) ?? 0) + 1;
      this.ledger.set(key, charges);
      const mayBeSecond = this.mayChargeAgain(key);
      if (charges > 1 && !mayBeSecond) {
        this.#world.violate(`${key} is charged ${charges} times`);
      }
    }
    this.#world.tell(`service: ${name} is launched`);
    this.#launches += 1;
    batch.wasLaunched = true;
    batch.statusBefore = 'ready_for_verification';
    batch.status = 'verification_ongoing';
    batch.workEndsAt = this.#world.now + this.#world.random.between(0, this.#verifiesMs);
    return ok({ status: 'ok' });
  }

  #launchedOf(name: string): Set<string> {
    // Without the number of the attempt: all uploads of a batch count together.
    const batch = name.slice(0, name.lastIndexOf('-'));
    let launched = this.#launched.get(batch);
    if (!launched) this.#launched.set(batch, (launched = new Set()));
    return launched;
  }

  /** The status now: what was being done may have been finished since. */
  #look(batch: ModelBatch): Status {
    if (batch.workEndsAt !== undefined && batch.workEndsAt <= this.#world.now) {
      batch.workEndsAt = undefined;
      batch.statusBefore = batch.status;
      batch.status =
        batch.status === 'parsing_content' ? 'ready_for_verification' : 'verification_done';
    }
    return batch.status;
  }

  #newUuid(): string {
    this.#uuids += 1;
    const { random } = this.#world;
    const hex = (digits: number): string =>
      Math.floor(random.next() * 16 ** digits)
        .toString(16)
        .padStart(digits, '0');
    return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${this.#uuids.toString(16).padStart(12, '0')}`;
  }
}

function keyOf({ type, country }: ModelBatch, line: string): string {
  return `${type} ${country} ${line.toLowerCase()}`;
}

const notFound: Answer = { status: 404, body: '{"message":"not found"}' };

function ok(value: unknown): Answer {
  return { status: 200, body: JSON.stringify(value) };
}
