import * as z from 'zod';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { parseConfig } from '../../platform/json.js';
import type { Finding } from './reply-rules.js';

export interface MailProvider {
  readonly name: string;
  /** Names or endings of its exchangers; `*` for all that no other entry matches. */
  readonly exchangers: readonly string[];
  /** Whether it accepts every recipient, so that acceptance says nothing; else made-up names show it. @default false */
  readonly takesAll?: boolean;
  /** Its own refusals, in plain words as in the documentation. */
  readonly refusals?: readonly {
    readonly words: string;
    readonly finding: Extract<Finding, 'no_mailbox' | 'disabled' | 'full' | 'not_told'>;
  }[];
  /** Most recipients in one conversation. */
  readonly recipientsPerConversation?: number;
  readonly source: string;
  /** Its date, as `2026-11`. */
  readonly asOf: string;
  /** How this machine reaches it. */
  readonly via?: Via;
}

/** A proxy or local address. */
export interface Via {
  readonly localAddress?: string;
  /** `socks5://host:port`, with `user:password@` where required. */
  readonly proxy?: string;
}

/** The documentation shows it, and a test compares the two. */
export const knownProviders: readonly MailProvider[] = [
  {
    name: 'Google',
    exchangers: ['google.com', 'googlemail.com'],
    recipientsPerConversation: 50,
    source:
      'sample bounces of sisimai (550 5.1.1 NoSuchUser); domains of customers may take everything',
    asOf: '2025-02',
  },
  {
    name: 'Outlook.com',
    exchangers: ['olc.protection.outlook.com'],
    source: 'sample bounces of sisimai, KumoMTA (550 5.5.0 mailbox unavailable)',
    asOf: '2025-02',
  },
  {
    name: 'Microsoft 365',
    exchangers: ['mail.protection.outlook.com', 'mx.microsoft'],
    refusals: [{ words: 'recipient address rejected access denied', finding: 'no_mailbox' }],
    source: 'sisimai, zone-mta (550 5.4.1 is an unknown user where the edge knows the directory)',
    asOf: '2026-07',
  },
  {
    name: 'Yahoo and AOL',
    exchangers: ['yahoodns.net'],
    takesAll: true,
    recipientsPerConversation: 10,
    source:
      'validemailchecker.com help (250 for whatever is asked for); sisimai (refusals come after the message)',
    asOf: '2026-05',
  },
  {
    name: 'Yandex',
    exchangers: ['mx.yandex.net', 'mx.yandex.ru'],
    source: 'smtp.codes (550 5.7.1 No such user!)',
    asOf: '2026-11',
  },
  {
    name: 'GMX and 1&1',
    exchangers: ['gmx.net', 'gmx.com', 'web.de', 'kundenserver.de', 'ionos.com', 'ionos.de'],
    recipientsPerConversation: 10,
    source: 'smtp.codes, sample bounces of sisimai (550 mailbox unavailable; 554 with rdns)',
    asOf: '2025-02',
  },
  {
    name: 'OVH',
    exchangers: ['mail.ovh.net', 'mail.ovh.ca'],
    source: 'no public word was found: the made-up name decides',
    asOf: '2026-11',
  },
  {
    name: 'Mimecast',
    exchangers: ['mimecast.com'],
    source: 'Mimecast, Recipient Validation - Technical Concepts (six ways, set for each domain)',
    asOf: '2026-11',
  },
  {
    name: 'Proofpoint',
    exchangers: ['pphosted.com', 'ppe-hosted.com'],
    source: 'zone-mta, sample bounces of sisimai (554 Blocked: about the asker)',
    asOf: '2026-07',
  },
  {
    name: 'Barracuda',
    exchangers: ['barracudanetworks.com'],
    source: 'Barracuda Campus 167977123 (by a list of users, by the mail server, or none)',
    asOf: '2026-11',
  },
  {
    name: 'Cisco',
    exchangers: ['iphmx.com'],
    recipientsPerConversation: 10,
    refusals: [{ words: 'address rejected', finding: 'no_mailbox' }],
    source: 'sample bounces of sisimai (550 #5.1.0 Address rejected)',
    asOf: '2025-02',
  },
];

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
            'is not a socks5://host:port',
          )
          .optional(),
      })
      .optional(),
  }),
);

/** A provider of your own, or changes to a known one of that name. */
export type CustomProvider = z.infer<typeof providerFile>[number];

/**
 * @throws ConfigurationError `invalid_option`, with the wrong field and never a value
 *
 * @example
 * ```ts
 * const providers = parseProviders('[{ "name": "Example", "exchangers": ["mx.example.com"] }]');
 * console.log(providers[0]?.name); // Example
 * ```
 */
export function parseProviders(json: string): readonly CustomProvider[] {
  return parseConfig(json, providerFile, 'the providers file');
}

/** Recognises providers by the names of their exchangers. */
export class ProviderTable {
  readonly #byEnd = new Map<string, MailProvider>();

  constructor(own: readonly CustomProvider[] = []) {
    const unknown = own.filter(({ name }) => !knownProviders.some((known) => known.name === name));
    const added = unknown.map(({ name, exchangers = [] }): MailProvider => {
      if (exchangers.length === 0) {
        throw new ConfigurationError(`providers: ${JSON.stringify(name)} needs exchangers`, {
          option: 'exchangers',
          fault: 'missing',
        });
      }
      return { name, exchangers, source: '', asOf: '' };
    });
    for (const known of [...knownProviders, ...added]) {
      const changes = own.find(({ name }) => name === known.name) ?? {};
      const provider = { ...known, ...changes } as MailProvider;
      for (const end of provider.exchangers) this.#byEnd.set(end.toLowerCase(), provider);
    }
  }

  get usesProxy(): boolean {
    return [...this.#byEnd.values()].some(({ via }) => via?.proxy !== undefined);
  }

  /** The provider with the longest matching ending; else the entry for all others. */
  of(host: string): MailProvider | undefined {
    for (let end = host; end !== ''; end = end.slice(end.indexOf('.') + 1)) {
      const provider = this.#byEnd.get(end);
      if (provider) return provider;
      if (!end.includes('.')) break;
    }
    return this.#byEnd.get('*');
  }
}
