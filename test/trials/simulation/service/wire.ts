import { Dispatcher } from 'undici';
import type { FaultPlan } from '../faults/fault-plan.js';
import type { NetworkFault, Operation } from '../faults/fault.js';
import { readForm } from './read-form.js';
import type { Answer, ServiceModel } from './service-model.js';
import type { Life } from '../world.js';

/** The key of every run; nothing but its header may hold it. */
export const canaryKey = 'canary-key-5f1e9a';

/** Connects a process to the service: undici's dispatcher without sockets. */
export class Wire extends Dispatcher {
  readonly #life: Life;
  readonly #service: ServiceModel;
  readonly #faults: Pick<FaultPlan, 'ofRequest'>;

  constructor(life: Life, service: ServiceModel, faults: Pick<FaultPlan, 'ofRequest'>) {
    super();
    this.#life = life;
    this.#service = service;
    this.#faults = faults;
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    void new Exchange(this.#life, this.#service, this.#faults, options, handler).begin();
    return true;
  }
}

class Exchange {
  readonly #life: Life;
  readonly #service: ServiceModel;
  readonly #faults: Pick<FaultPlan, 'ofRequest'>;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #operation: Operation;
  readonly #uuid: string;
  #isOver = false;
  readonly #controller: Dispatcher.DispatchController = {
    aborted: false,
    paused: false,
    reason: null,
    rawHeaders: null,
    rawTrailers: null,
    abort: (reason: Error) => this.#fail(reason),
    pause: () => undefined,
    resume: () => undefined,
  };

  constructor(
    life: Life,
    service: ServiceModel,
    faults: Pick<FaultPlan, 'ofRequest'>,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ) {
    this.#life = life;
    this.#service = service;
    this.#faults = faults;
    this.#options = options;
    this.#handler = handler;
    const [path = ''] = options.path.split('?');
    this.#uuid = path.split('/')[3] ?? '';
    this.#operation = operationOf(options.method, path);
  }

  async begin(): Promise<void> {
    await this.#travel();
    const fault = this.#faults.ofRequest(this.#operation);
    this.#tell(fault ? `-> (${fault})` : '->');
    this.#checkKey();
    if (fault === 'refused') {
      this.#fail(systemError('ECONNREFUSED'));
      return;
    }
    this.#handler.onRequestStart?.(this.#controller, {});
    const body = await this.#readBody();
    await this.#travel(true);
    if (body === undefined) return;
    if (!this.#isOver) await this.#serve(body, fault);
    // Nobody waits for the answer any more, but what was sent may be carried out all the same.
    else if (this.#life.world.random.chance(0.5)) this.#commitLate(body);
  }

  async #serve(body: Buffer, fault: NetworkFault | undefined): Promise<void> {
    switch (fault) {
      case 'reset_before':
        return this.#fail(systemError('ECONNRESET'));
      case 'hang_before':
        return undefined;
      case '500_before':
        return this.#answer({ status: 500, body: 'oops' });
      case '429':
        return this.#answer({ status: 429, body: '{}' }, { 'retry-after': '2' });
      case 'says_error':
        return this.#answer({ status: 200, body: '{"status":"error"}' });
      case 'not_ready':
        return this.#answer({ status: 200, body: '{"status":"not_ready_for_verification"}' });
      case 'no_credits':
        return this.#answer({ status: 402, body: '{"message":"no credits"}' });
      case 'unknown_status':
        return this.#answer({ status: 200, body: '{"status":"queued"}' });
      case 'export_of_nothing':
        return this.#answer({ status: 200, body: '{}' });
      case 'export_of_strangers':
        return this.#answer(this.#service.exportOfStrangers());
      case 'late_commit':
        this.#commitLate(body);
        return this.#fail(systemError('ECONNRESET'));
      default:
        break;
    }
    const answer = this.#commit(body, fault);
    await this.#travel();
    if (this.#isOver) return undefined;
    switch (fault) {
      case 'reset_after':
        return this.#fail(systemError('ECONNRESET'));
      case 'hang_after':
        return undefined;
      case '500_after':
        return this.#answer({ status: 500, body: 'oops' });
      case 'malformed':
        return this.#answer({ ...answer, body: `${answer.body.slice(0, -1)},` });
      case 'says_error_after':
        return this.#answer({ status: 200, body: '{"status":"error"}' });
      case 'no_credits_after':
        return this.#answer({ status: 402, body: '{"message":"no credits"}' });
      case 'no_key_after':
        return this.#answer({ status: 401, body: '{"message":"Unauthorized"}' });
      case 'cut_answer':
        return this.#answer(answer, {}, true);
      default:
        return this.#answer(answer);
    }
  }

  #commit(body: Buffer, fault?: NetworkFault, isLate = false): Answer {
    const service = this.#service;
    switch (this.#operation) {
      case 'credits':
        return service.credits();
      case 'listBatches':
        return service.list(new URLSearchParams(this.#options.path.split('?')[1]));
      case 'uploadBatch': {
        const form = readForm(body);
        if (fault === 'double_commit') service.upload(form, { isStray: true });
        return service.upload(form, {
          tellsUuid: fault !== 'no_uuid',
          tellsOther: fault === 'uuid_of_another',
          isStray: isLate,
        });
      }
      case 'prepareBatch':
        return service.prepare(this.#uuid);
      case 'batchStatus':
        return service.status(this.#uuid, fault === 'lags_behind');
      case 'launchBatch':
        return service.launch(this.#uuid);
      case 'exportBatch':
        return service.export(this.#uuid);
      case 'deleteBatch':
        return service.delete(this.#uuid);
    }
  }

  /** What was sent may be carried out long after the connection broke. */
  #commitLate(body: Buffer): void {
    const { world } = this.#life;
    world.schedule(
      undefined,
      world.random.between(10, this.#service.latestMs),
      () => void this.#commit(body, undefined, true),
    );
  }

  async #answer(
    { status, body }: Answer,
    headers: Record<string, string> = {},
    isCut = false,
  ): Promise<void> {
    if (this.#isOver) return;
    this.#tell(`<- ${status} ${this.#life.world.isTraced ? body.slice(0, 120) : ''}`);
    const type = { 'content-type': 'application/json' };
    this.#handler.onResponseStart?.(this.#controller, status, { ...type, ...headers }, '');
    const bytes = Buffer.from(body);
    const cut = isCut ? this.#life.world.random.between(0, bytes.length - 1) : bytes.length;
    if (cut > 0) this.#handler.onResponseData?.(this.#controller, bytes.subarray(0, cut));
    if (isCut) {
      await this.#travel();
      this.#fail(systemError('ECONNRESET'));
      return;
    }
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseEnd?.(this.#controller, {});
  }

  async #readBody(): Promise<Buffer | undefined> {
    const { body } = this.#options;
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
        if (this.#isOver) return undefined;
        chunks.push(Buffer.from(chunk));
      }
    } catch (error) {
      this.#fail(error as Error);
      return undefined;
    }
    return this.#isOver ? undefined : Buffer.concat(chunks);
  }

  /** On the way between the process and the service: it takes time, and the process may die. */
  /** @param isSent whether it is out of the process, which may freeze meanwhile */
  async #travel(isSent = false): Promise<void> {
    const { world } = this.#life;
    return new Promise((resolve) => {
      world.schedule(undefined, 1 + world.random.next() * 40, () => {
        if (!this.#life.step(true)) this.#isOver = true;
        if (!isSent && this.#life.frozenUntil > world.now) void this.#life.thawed().then(resolve);
        else resolve();
      });
    });
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tell(`<- ${error.message}`);
    this.#handler.onResponseError?.(this.#controller, error);
  }

  #checkKey(): void {
    const { headers, path } = this.#options;
    const { 'x-api-key': key, ...others } = headers as Record<string, string>;
    if (key !== canaryKey) this.#life.world.violate(`${this.#operation} does not carry the key`);
    if ((path + JSON.stringify(others)).includes(canaryKey)) {
      this.#life.world.violate(`${this.#operation} carries the key elsewhere than in its header`);
    }
  }

  #tell(what: string): void {
    const { world, number } = this.#life;
    if (world.isTraced) world.tell(`#${number} ${this.#operation} ${this.#uuid} ${what}`);
  }
}

function operationOf(method: string, path: string): Operation {
  const [, , place, uuid, below] = path.split('/');
  if (place === 'account') return 'credits';
  if (below === 'export') return 'exportBatch';
  switch (method) {
    case 'POST':
      return uuid === undefined ? 'uploadBatch' : 'launchBatch';
    case 'PATCH':
      return 'prepareBatch';
    case 'DELETE':
      return 'deleteBatch';
    default:
      return uuid === undefined ? 'listBatches' : 'batchStatus';
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
