import * as z from 'zod';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { parseConfig } from '../../service/config-json.js';
import { knownProviders, type MailProvider } from './providers.js';

const providerFile = z.array(
  z.strictObject({
    name: z.string().min(1),
    exchangers: z.array(z.string().min(1)).min(1).optional(),
    takesAll: z.boolean().optional(),
    refusals: z
      .array(
        z.strictObject({
          words: z.string().min(1),
          finding: z.enum(['no_mailbox', 'disabled', 'full', 'not_told']),
        }),
      )
      .optional(),
    recipientsPerConversation: z.int().min(1).max(100).optional(),
    source: z.string().optional(),
    asOf: z.string().optional(),
    via: z
      .strictObject({
        localAddress: z.union([z.ipv4(), z.ipv6()]).optional(),
        proxy: z
          .string()
          .regex(
            /^socks5:\/\/(?:[^\s:@/]+:[^\s@/]*@)?[^\s:@/]+:\d{1,5}$/,
            'is no socks5://host:port',
          )
          .optional(),
      })
      .optional(),
  }),
);

/** A provider of your own, or changes to a known one of that name. */
export type OwnProvider = z.infer<typeof providerFile>[number];

/**
 * @throws ConfigurationError `invalid_option`, which names what is wrong and never a value
 *
 * @example
 * ```ts
 * const providers = parseProviders('[{ "name": "Example", "exchangers": ["mx.example.com"] }]');
 * console.log(providers[0]?.name); // Example
 * ```
 */
export function parseProviders(json: string): readonly OwnProvider[] {
  return parseConfig(json, providerFile, 'the providers file');
}

/** Tells providers by the names of their exchangers. */
export class ProviderTable {
  readonly #byEnd = new Map<string, MailProvider>();

  constructor(own: readonly OwnProvider[] = []) {
    const unknown = own.filter(({ name }) => !knownProviders.some((known) => known.name === name));
    const added = unknown.map(({ name, exchangers = [] }): MailProvider => {
      if (exchangers.length === 0) {
        throw new ConfigurationError(`providers: ${JSON.stringify(name)} needs exchangers`);
      }
      return { name, exchangers, takesAll: false, source: '', asOf: '' };
    });
    for (const known of [...knownProviders, ...added]) {
      const changes = own.find(({ name }) => name === known.name) ?? {};
      const provider = { ...known, ...changes } as MailProvider;
      for (const end of provider.exchangers) this.#byEnd.set(end.toLowerCase(), provider);
    }
  }

  /** Whether some are asked through a proxy. */
  get usesProxy(): boolean {
    return [...this.#byEnd.values()].some(({ via }) => via?.proxy !== undefined);
  }

  /** The one whose exchanger this is, by the longest end of its name; else the one for all others. */
  of(host: string): MailProvider | undefined {
    for (let end = host; end !== ''; end = end.slice(end.indexOf('.') + 1)) {
      const provider = this.#byEnd.get(end);
      if (provider) return provider;
      if (!end.includes('.')) break;
    }
    return this.#byEnd.get('*');
  }
}
