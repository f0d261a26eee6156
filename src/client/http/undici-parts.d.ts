// undici's index also loads fetch, WebSockets, caches and mocks: more than a third of the start. Its parts
// have no types of their own; the version is fixed, so their paths do not change.
declare module 'undici/lib/dispatcher/agent.js' {
  import type { Agent } from 'undici';
  const part: typeof Agent;
  export = part;
}
declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  import type { EnvHttpProxyAgent } from 'undici';
  const part: typeof EnvHttpProxyAgent;
  export = part;
}
declare module 'undici/lib/core/connect.js' {
  import type { buildConnector } from 'undici';
  const part: typeof buildConnector;
  export = part;
}
declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';
  function part(
    this: Dispatcher,
    options: Dispatcher.RequestOptions & Pick<Dispatcher.DispatchOptions, 'origin'>,
  ): Promise<Dispatcher.ResponseData>;
  export = part;
}
