import {
  createServer,
  request as sendRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import S3rver from 's3rver';
import { S3Client } from '@aws-sdk/client-s3';
import { withFolder } from '../service/with-service.js';

/** What the front does with a request in place of passing it on. */
export type Fault = 'break' | 'break answer' | 'lose answer';

export interface S3Server {
  /** What the SDK takes from the environment to find it. */
  readonly env: Readonly<Record<string, string>>;
  readonly endpoint: string;
  readonly client: S3Client;
  /** Each request so far: `PUT /lists/key`, with the names in its query. */
  readonly requests: string[];
  /** Keys of uploads that are neither completed nor aborted. */
  openUploads(): readonly string[];
  /** Asked for every request. */
  fault: (request: string) => Fault | undefined | Promise<Fault | undefined>;
}

/**
 * An S3 server with a bucket `lists`: s3rver, which keeps and checks, and in front of it the list of open
 * uploads and their end, which it lacks, and faults.
 */
export async function withS3(): Promise<S3Server> {
  const backend = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: await withFolder(),
    configureBuckets: [{ name: 'lists' }],
  });
  const { port: backendPort } = await backend.run();
  const front = new Front(backendPort);
  const endpoint = await front.listen();
  const env = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
    AWS_REGION: 'us-east-1',
  };
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${backendPort}`,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  onTestFinished(async () => {
    client.destroy();
    await front.close();
    await backend.close();
  });
  return Object.assign(front, { env, endpoint, client });
}

class Front {
  readonly requests: string[] = [];
  fault: S3Server['fault'] = () => undefined;
  readonly #port: number;
  readonly #open = new Map<string, string>();
  readonly #server = createServer((incoming, response) => void this.#take(incoming, response));

  constructor(port: number) {
    this.#port = port;
  }

  openUploads(): readonly string[] {
    return [...this.#open.values()];
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '', 'http://front');
    const key = decodeURIComponent(url.pathname.replace(/^\/lists\/?/, ''));
    const names = [...url.searchParams.keys()].filter((name) => name !== 'x-id').join('&');
    const request = `${incoming.method} ${url.pathname}${names === '' ? '' : `?${names}`}`;
    this.requests.push(request);
    const fault = await this.fault(request);
    const id = url.searchParams.get('uploadId') ?? '';
    if (fault === 'break') incoming.socket.destroy();
    else if (incoming.method === 'GET' && url.searchParams.has('uploads')) {
      this.#list(url.searchParams.get('prefix') ?? '', response);
    } else if (incoming.method === 'DELETE' && id !== '') {
      response.writeHead(this.#open.delete(id) ? 204 : 404).end();
    } else if (id !== '' && !this.#open.has(id)) {
      response.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');
    } else this.#pass(incoming, response, { key, id, fault });
  }

  #list(prefix: string, response: ServerResponse): void {
    const uploads = [...this.#open]
      .filter(([, key]) => key.startsWith(prefix))
      .map(([id, key]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
    response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end(`<ListMultipartUploadsResult>${uploads.join('')}</ListMultipartUploadsResult>`);
  }

  #pass(
    incoming: IncomingMessage,
    response: ServerResponse,
    { key, id, fault }: { key: string; id: string; fault: Fault | undefined },
  ): void {
    const { method, url: path, headers } = incoming;
    const outgoing = sendRequest({
      port: this.#port,
      host: '127.0.0.1',
      method,
      path,
      headers,
      agent: false,
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    outgoing.on('response', (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () => {
        const body = Buffer.concat(pieces);
        const begun = /<UploadId>(\w+)</.exec(body.toString('latin1', 0, 1000))?.[1];
        const isSuccess = answer.statusCode === 200;
        if (begun !== undefined && isSuccess) this.#open.set(begun, key);
        if (method === 'POST' && id !== '' && isSuccess) this.#open.delete(id);
        if (fault === 'lose answer') {
          incoming.socket.destroy();
          return;
        }
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        if (fault === 'break answer') {
          response.write(body.subarray(0, body.length / 2), () => response.destroy());
        } else response.end(body);
      });
    });
    incoming.pipe(outgoing);
  }
}
