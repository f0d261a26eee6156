import type { VerificationEngine } from '../service/verification/engine.js';
import { loadDnsCodec } from './dns/dns-message.js';
import { createResolver } from './dns/resolver.js';
import { EmailVerifier } from './email-verifier.js';
import { resolveNetworkOptions, type NetworkEngineOptions } from './network-options.js';
import { createHttpLookup } from './phones/phone-lookup.js';
import { loadOperators } from './phones/operators.js';
import { PhoneVerifier } from './phones/phone-verifier.js';
import { loadSocks } from './smtp/smtp-connection.js';
import { MailProbe } from './schedule/mail-probe.js';

/**
 * Makes an engine that queries the network: exchangers about mailboxes and, if one is given, a provider about
 * phone numbers. Read docs/live-verification.md before you use it on other people's servers.
 *
 * @throws ConfigurationError `invalid_option`; `missing_dependency` for a missing package
 *
 * @example
 * ```ts
 * const service = await createService({ engine: networkEngine({ heloName: 'verify.example.com' }) });
 * await service.close();
 * ```
 */
export async function networkEngine(
  options: NetworkEngineOptions = {},
): Promise<VerificationEngine> {
  const settings = resolveNetworkOptions(options);
  const codec = await loadDnsCodec();
  const nameNetwork = await loadOperators();
  // Reported before anything is queried.
  if (settings.providers.usesProxy) await loadSocks();
  const { clock, phoneProvider } = settings;
  const resolver = createResolver({
    codec,
    servers: settings.resolvers,
    timeoutMs: settings.resolverTimeoutMs,
    now: () => clock.now(),
  });
  const mail = new EmailVerifier(
    new MailProbe({
      ...settings,
      resolver,
      identity: { ...settings, port: settings.smtpPort },
      limits: settings,
    }),
  );
  const phones = new PhoneVerifier({
    lookups: [
      ...(phoneProvider === undefined ? [] : [createHttpLookup(phoneProvider, clock)]),
      ...settings.phoneLookups,
    ],
    concurrency: settings.phoneConcurrency,
    nameNetwork,
  });
  return {
    verifyEmails: async (addresses, signal) =>
      Promise.all(addresses.map(async (address) => mail.judgeNow(address, signal))),
    verifyPhones: async (addresses, country, signal) =>
      Promise.all(addresses.map(async (address) => phones.judge(address, country, signal))),
    live: ({ type, country }, signal) =>
      type === 'email' ? mail.live(signal) : phones.live(country, signal),
    close() {
      mail.close();
      resolver.close();
    },
  };
}
