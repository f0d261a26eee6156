import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from '../../client/test-server.js';

/** An answer given in the service's place. */
export interface Instead {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The service's own answer, changed. */
export interface Changed {
  change(body: unknown): unknown;
}

/** An answer that is no JSON at hand: sent as the test likes. */
export interface Sent {
  send(response: ServerResponse): void;
}

type Answered = Instead | Changed | Sent | undefined;

export interface Front {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** All that came, as `POST /v1/batch`, in order. */
  readonly requests: readonly string[];
}

/**
 * Stands between the command and a service: passes everything on, but for what the test answers itself.
 *
 * @param instead called with each request, as `POST /v1/batch`, before it is passed on
 */
export async function startFront(
  service: { readonly baseUrl: string; readonly apiKey: string },
  instead: (request: string) => Answered | Promise<Answered>,
): Promise<Front> {
  const requests: string[] = [];
  const server = createServer((incoming, response) => {
    incoming.on('error', () => undefined);
    response.on('error', () => undefined);
    void (async () => {
      const name = `${incoming.method ?? ''} ${(incoming.url ?? '').replace(/\?.*$/, '')}`;
      requests.push(name);
      const answer = await instead(name);
      if (answer && 'send' in answer) {
        incoming.resume();
        response.writeHead(200, { 'content-type': 'application/json' });
        answer.send(response);
        return;
      }
      if (answer && 'status' in answer) {
        incoming.resume();
        const { status, headers, body } = answer;
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify(body));
        return;
      }
      const passed = ask(
        service.baseUrl + (incoming.url ?? ''),
        { method: incoming.method, headers: incoming.headers },
        (outgoing: IncomingMessage) => {
          if (answer) {
            void json(outgoing).then((body) => {
              response.writeHead(outgoing.statusCode ?? 500, {
                'content-type': 'application/json',
              });
              response.end(JSON.stringify(answer.change(body)));
            });
            return;
          }
          response.writeHead(outgoing.statusCode ?? 500, outgoing.headers);
          outgoing.pipe(response);
        },
      );
      passed.on('error', () => response.destroy());
      incoming.pipe(passed);
    })();
  });
  return { baseUrl: await listen(server), apiKey: service.apiKey, requests };
}
