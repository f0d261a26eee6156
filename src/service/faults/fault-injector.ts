import { uploadedBatch } from '../../contract/bodies.js';
import type { OperationName } from '../../contract/operations.js';
import { revocationOf } from '../account.js';
import { unauthorized } from '../http/access.js';
import { HttpProblem, type Reply, sendReply, type CorruptedReply } from '../http/reply.js';
import type { Call, Handler, ServiceContext } from '../operations/operation.js';
import { removeBatchFiles } from '../storage/batch.js';
import { cutAnswer, drippingAnswer, plannedAnswer, reset, silence } from './corrupted-responses.js';
import type { CheckedFaultPlan, FaultReport, ParsedFault } from './fault.js';

interface Disturbed {
  readonly call: Call;
  readonly handler: Handler;
  readonly service: ServiceContext;
}

/** An operation whose answers may be corrupted. */
export type DisturbedHandler = (
  call: Call,
  service: ServiceContext,
) => Promise<Reply | CorruptedReply>;

/** Injects the planned faults. Everything that is carried out goes through the real operations. */
export class FaultInjector {
  readonly #schedule: FaultSchedule;
  readonly #closing = new AbortController();

  constructor(plan: CheckedFaultPlan) {
    this.#schedule = new FaultSchedule(plan);
  }

  report(): readonly FaultReport[] {
    return this.#schedule.report();
  }

  close(): void {
    this.#closing.abort();
  }

  /** An operation with planned faults; requests are counted once their key is accepted. */
  disturb(operation: OperationName, handler: Handler): DisturbedHandler {
    return async (call, service) => {
      const fault = this.#schedule.next(operation);
      if (fault === undefined) return handler(call, service);
      return this.#perform(fault, { call, handler, service });
    };
  }

  async #perform(fault: ParsedFault, disturbed: Disturbed): Promise<Reply | CorruptedReply> {
    const { what, when = 'before' } = fault;
    const { call, handler, service } = disturbed;
    if ('commitAfterMs' in what) return this.#commitLate(what.commitAfterMs, fault, disturbed);
    if ('cutAtByte' in what) return cutAnswer(await answerOf(disturbed), what);
    if ('dripMs' in what) {
      const pause = async () => this.#wait(what.dripMs, service);
      return drippingAnswer(await answerOf(disturbed), pause);
    }
    if ('answer' in what || 'reset' in what || 'hang' in what) {
      // Carried out or refused: the client learns of neither.
      if (when === 'after') await answerOf(disturbed);
      if ('answer' in what) return plannedAnswer(what.answer);
      if ('reset' in what) reset(call.request);
      else await silence(call.request);
      return nothing;
    }
    if (when === 'before') {
      await this.#inject(what, disturbed, call.uuid);
      if ('key' in what) throw unauthorized();
      return handler(call, service);
    }
    const reply = await answerOf(disturbed);
    const inject = async (): Promise<void> =>
      this.#inject(what, disturbed, call.uuid ?? uploadedUuid(reply));
    if ('json' in reply || 'delayMs' in what) {
      await inject();
      return reply;
    }
    // An export is read from the batch's files while it is sent.
    return {
      async send(response, headers) {
        await sendReply(response, reply, headers);
        await inject();
      },
    };
  }

  async #inject(
    what: Extract<
      ParsedFault['what'],
      { batch: unknown } | { key: unknown } | { delayMs: unknown }
    >,
    { call, service }: Disturbed,
    uuid: string | undefined,
  ): Promise<void> {
    if ('delayMs' in what) await this.#wait(what.delayMs, service);
    else if ('key' in what) await revokeKey(call.account, service);
    else if (uuid !== undefined) await injectBatchEvent(what.batch, uuid.toLowerCase(), service);
  }

  /** The request is complete when its connection is cut, and carried out later. */
  async #commitLate(
    lateMs: number,
    { operation }: ParsedFault,
    disturbed: Disturbed,
  ): Promise<CorruptedReply> {
    const { call, service } = disturbed;
    const onReceived = async (): Promise<void> => {
      reset(call.request);
      await this.#wait(lateMs, service);
    };
    if (operation === 'uploadBatch') {
      await answerOf({ ...disturbed, call: { ...call, onReceived } });
      // A refused form does not get this far.
      reset(call.request);
    } else {
      await onReceived();
      await answerOf(disturbed);
    }
    return nothing;
  }

  async #wait(ms: number, { clock }: ServiceContext): Promise<void> {
    await clock.sleep(ms, this.#closing.signal);
  }
}

const nothing: CorruptedReply = { send: async () => undefined };

async function answerOf({ call, handler, service }: Disturbed): Promise<Reply> {
  try {
    return await handler(call, service);
  } catch (error) {
    if (error instanceof HttpProblem) return { status: error.status, json: error.body };
    throw error;
  }
}

function uploadedUuid(reply: Reply): string | undefined {
  const parsed = uploadedBatch.safeParse('json' in reply ? reply.json : undefined);
  return parsed.success ? parsed.data.batch_uuid : undefined;
}

/** Events of batches and keys that a client does not cause. */
type InjectedBatchEvent = 'deleted' | 'internal_error';

/** Deletes or breaks a batch in any stage; charges stay. */
async function injectBatchEvent(
  injected: InjectedBatchEvent,
  uuid: string,
  service: ServiceContext,
): Promise<void> {
  const { store, mutex, clock } = service;
  await mutex.take(uuid, async () => {
    const batch = store.state.batches.get(uuid);
    if (batch === undefined) return;
    const event = injected === 'deleted' ? 'deleted' : 'failed';
    await store.commit({ event, uuid, at: clock.wallNow() });
    const { name } = batch.stage;
    // The files of a batch in work are still being read: its job removes them at its end.
    if (injected !== 'deleted' || name === 'parsing' || name === 'verifying') return;
    await removeBatchFiles(store.files(batch), store.state.wasLaunched(uuid));
  });
}

async function revokeKey(name: string, { store }: ServiceContext): Promise<void> {
  const account = store.state.accounts.get(name);
  if (account !== undefined) await store.commit(revocationOf(account));
}

interface Planned {
  readonly fault: ParsedFault;
  readonly random: () => number;
  requests: number;
  fired: number;
}

/** Distance between the seeds of a plan's faults: none follows another's numbers. */
const seedStep = 0x9e37_79b9;

/** Decides which request meets which fault, independent of their effects. */
export class FaultSchedule {
  readonly #planned: readonly Planned[];

  constructor({ seed, faults }: CheckedFaultPlan) {
    this.#planned = faults.map((fault, at) => ({
      fault,
      random: createSeededRandom(seed + at * seedStep),
      requests: 0,
      fired: 0,
    }));
  }

  /** Counts a request; of several due faults, the first in the plan fires. */
  next(operation: OperationName): ParsedFault | undefined {
    let firing: Planned | undefined;
    for (const planned of this.#planned) {
      if (planned.fault.operation !== '*' && planned.fault.operation !== operation) continue;
      planned.requests += 1;
      if (isDue(planned)) firing ??= planned;
    }
    if (firing) firing.fired += 1;
    return firing?.fault;
  }

  report(): readonly FaultReport[] {
    return this.#planned.map(({ fault, requests, fired }) => ({ fault, requests, fired }));
  }
}

function isDue({ fault, random, requests, fired }: Planned): boolean {
  const { from = 1, every = 1, times = Infinity, probability } = fault;
  const isChosen = fault.requests
    ? fault.requests.includes(requests)
    : requests >= from && (requests - from) % every === 0;
  if (!isChosen || fired >= times) return false;
  return probability === undefined || random() < probability;
}

/** Seeded numbers from 0 to below 1 (mulberry32). */
function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
