import {
  createServer,
  request as send,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { openClient } from '../../../client/test-client.js';
import type { ServiceOptions } from '../../../../src/service/index.js';
import { withService, paidAddresses } from '../../../service/with-service.js';
import { readForm } from '../../../trials/simulation/service/read-form.js';
import { listen } from '../../../client/test-server.js';

/** An upload that came to the service. */
export interface SeenUpload {
  readonly name: string;
  readonly sizeBytes: number;
  readonly addresses: readonly string[];
  readonly isRefused: boolean;
}

export interface SizeLimit {
  readonly maxBytes?: number;
  readonly maxRows?: number;
  /** How the service says that an upload is too large. @default 'json' */
  readonly says?: 'json' | 'page' | 'nothing' | 'and_closes';
  /**
   * Number, from 1, of the upload whose answer is lost once it is taken; the list does not show it
   * before it is sent again.
   */
  readonly losesAnswer?: number;
}

/**
 * A local service behind a front that refuses uploads by bytes or by rows, as proxies do, and a client
 * of it. All are closed after the test.
 */
export async function withSizeLimit(limit: SizeLimit, options: ServiceOptions = {}) {
  const { service } = await withService(options);
  const uploads: SeenUpload[] = [];
  /** Changed by tests while they run. */
  const current = { limit };
  let hidden: string | undefined;
  const front = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (request.method === 'POST' && request.url === '/v1/batch') {
        const { fields, file } = readForm(body);
        const sizeBytes = Buffer.byteLength(file);
        const addresses = file.split('\n').slice(0, -1);
        const { maxBytes = Infinity, maxRows = Infinity } = current.limit;
        const isRefused = sizeBytes > maxBytes || addresses.length > maxRows;
        uploads.push({ name: fields.get('name') ?? '', sizeBytes, addresses, isRefused });
        if (isRefused) return refuse(response, current.limit);
        hidden = undefined;
        if (uploads.length === current.limit.losesAnswer) {
          hidden = fields.get('name');
          return forward(service.baseUrl, request, body, () => response.destroy());
        }
      }
      forward(service.baseUrl, request, body, ({ status, headers, text }) => {
        response.writeHead(status, headers);
        response.end(hidden === undefined || !text.startsWith('[') ? text : without(text, hidden));
      });
    });
  });
  const baseUrl = await listen(front);
  const client = openClient({ baseUrl, apiKey: service.apiKey });
  return {
    service,
    client,
    uploads,
    baseUrl,
    /** Every address that was charged, in order. */
    async paid(): Promise<readonly string[]> {
      return (await paidAddresses(service)).toSorted();
    },
    setLimit(changed: SizeLimit): void {
      current.limit = changed;
    },
  };
}

function refuse(response: ServerResponse, { says = 'json' }: SizeLimit): void {
  switch (says) {
    case 'json':
      response.writeHead(413, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: 'too large' }));
      return;
    case 'page':
      response.writeHead(413, { 'content-type': 'text/html', connection: 'close' });
      response.end('<html><h1>413 Request Entity Too Large</h1></html>');
      return;
    case 'nothing':
      response.writeHead(413);
      response.end();
      return;
    case 'and_closes':
      response.writeHead(413, { 'content-length': 0 });
      response.end(() => response.socket?.destroy());
  }
}

/** The list without the batch of this name. */
function without(list: string, hidden: string): string {
  const batches = JSON.parse(list) as readonly { readonly name: string }[];
  return JSON.stringify(batches.filter(({ name }) => name !== hidden));
}

function forward(
  baseUrl: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  answered: (answer: {
    readonly status: number;
    readonly headers: Record<string, string>;
    readonly text: string;
  }) => void,
): void {
  const onward = send(`${baseUrl}${url}`, { method, headers }, (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    answer.on('end', () => {
      const type = answer.headers['content-type'] ?? 'application/json';
      answered({ status: answer.statusCode ?? 502, headers: { 'content-type': type }, text });
    });
  });
  onward.end(body);
}
