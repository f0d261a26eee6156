import { request, type Dispatcher } from 'undici';
import type { Service } from '../../src/service/index.js';

/** What tests read of bodies; which of it is there, each operation says. */
export interface Body {
  readonly status: string;
  readonly batch_uuid: string;
  readonly message: string;
  readonly errors: readonly { readonly field: string; readonly message: string }[];
  readonly email_credit: number;
  readonly phone_credit: number;
  readonly parsing_counts: Readonly<Record<string, number>>;
  readonly cost: Readonly<Record<string, number>>;
  readonly results: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>>;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly content: string;
  readonly content_bytes: number;
  readonly details: Body;
  readonly statistics: Body;
}

/** An answer, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; throws when it is none. */
  readonly json: Body;
  /** The body as a JSON array. */
  readonly list: readonly Body[];
}

export interface Sent {
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null sends none. */
  readonly key?: string | null;
}

/** Requests to a service, made by hand: nothing of Sluice's own client is in between. */
export class Wire {
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #dispatcher: Dispatcher | undefined;

  /** @param dispatcher of its connections. @default undici's own, as many as there are requests at once */
  constructor(service: Pick<Service, 'baseUrl' | 'apiKey'>, dispatcher?: Dispatcher) {
    this.#baseUrl = service.baseUrl;
    this.#key = service.apiKey;
    this.#dispatcher = dispatcher;
  }

  async send(method: Dispatcher.HttpMethod, path: string, sent: Sent = {}): Promise<Answer> {
    const key = sent.key === undefined ? this.#key : sent.key;
    const answer = await request(this.#baseUrl + path, {
      method,
      headers: { ...(key === null ? {} : { 'X-Api-Key': key }), ...sent.headers },
      body: sent.body ?? null,
      ...(this.#dispatcher && { dispatcher: this.#dispatcher }),
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text,
      get json() {
        return JSON.parse(text) as Body;
      },
      get list() {
        return JSON.parse(text) as Body[];
      },
    };
  }

  get(path: string, sent?: Sent): Promise<Answer> {
    return this.send('GET', path, sent);
  }

  /** Uploads lines; fields may be replaced, and left out with null. */
  uploadAnswer(
    content: readonly string[] | Buffer,
    fields: Readonly<Record<string, string | null>> = {},
    sent: Sent = {},
  ): Promise<Answer> {
    const form = multipart(
      { name: 'a batch', type: 'email', target_country: 'US', ...fields },
      Buffer.isBuffer(content) ? content : Buffer.from(content.map((line) => `${line}\n`).join('')),
    );
    return this.send('POST', '/v1/batch', { ...sent, ...form });
  }

  async upload(
    content: readonly string[] | Buffer,
    fields?: Readonly<Record<string, string | null>>,
    sent?: Sent,
  ): Promise<string> {
    const answer = await this.uploadAnswer(content, fields, sent);
    if (answer.status !== 200) throw new Error(`upload: ${answer.status} ${answer.text}`);
    return answer.json.batch_uuid;
  }

  async status(uuid: string): Promise<string> {
    return (await this.get(`/v1/batch/${uuid}`)).json.status;
  }

  /** Polls until a batch has a status, and gives the answer that says so. */
  async until(uuid: string, status: string): Promise<Body> {
    for (;;) {
      const answer = await this.get(`/v1/batch/${uuid}`);
      if (answer.status !== 200 || answer.json.status === status) return answer.json;
      if (answer.json.status === 'internal_error') throw new Error('the batch failed');
    }
  }

  async prepare(uuid: string): Promise<Body> {
    await this.send('PATCH', `/v1/batch/${uuid}`);
    return this.until(uuid, 'ready_for_verification');
  }

  async launch(uuid: string): Promise<Answer> {
    return this.send('POST', `/v1/batch/${uuid}`);
  }

  /** Uploads, prepares, launches and waits; gives the uuid and the last status answer. */
  async verify(
    content: readonly string[] | Buffer,
    fields?: Readonly<Record<string, string | null>>,
  ): Promise<Body> {
    const uuid = await this.upload(content, fields);
    await this.prepare(uuid);
    const launched = await this.launch(uuid);
    if (launched.json.status !== 'ok') throw new Error(`launch: ${launched.text}`);
    return this.until(uuid, 'verification_done');
  }

  async records(uuid: string): Promise<Record<string, Record<string, unknown>>> {
    const query = 'format=json&include_details=false&include_statistics=false';
    const { text } = await this.get(`/v1/batch/${uuid}/export?${query}`);
    return JSON.parse(text) as Record<string, Record<string, unknown>>;
  }
}

const boundary = '----sluice-test-boundary';

/** A form by hand: fields that are null are left out, and so is a file that is `undefined`. */
export function multipart(
  fields: Readonly<Record<string, string | null>>,
  file?: Buffer,
): { readonly body: Buffer; readonly headers: Record<string, string> } {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) continue;
    parts.push(
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      ),
    );
  }
  if (file) {
    parts.push(
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="batch.txt"\r\n` +
          'Content-Type: text/plain\r\n\r\n',
      ),
      file,
      Buffer.from('\r\n'),
    );
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`));
  return {
    body: Buffer.concat(parts),
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  };
}

/** Reads an async iterable whole. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
}
