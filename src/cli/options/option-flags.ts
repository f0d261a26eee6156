import { shellQuote } from '../../platform/text/shell-quote.js';

/** What the library calls in backticks, and what sets it on the command line. */
export const optionFlags: ReadonlyMap<string, string> = new Map([
  // Lists
  ['source.format', '--input-format'],
  ['sink.format', '--output-format'],
  ['header', '--no-header'],
  ['header: false', '--no-header'],
  ['skipRows: 0', '--skip-rows 0'],
  ['skipRows', '--skip-rows'],
  ['delimiter', '--delimiter'],
  ['quote', '--quote'],
  ['escape', '--escape'],
  ['encoding', '--encoding'],
  ['sheet', '--sheet'],
  ['inputFormat', '--input-format'],
  ['query', '--query'],
  ['partBytes', '--part-size'],
  ['into', '--into'],
  ['key', '--key'],
  ['from', '--from'],
  // Columns and countries
  ['email', '--email'],
  ['phone', '--phone'],
  ['country', '--country'],
  ['countryColumn', '--country-column'],
  ['countryFrom', '--country-from'],
  ['emailCountry', '--email-country'],
  ['prefix', '--prefix'],
  ['columns', '--columns'],
  // A run
  ['stateDir', '--state'],
  ['run', '--run'],
  ['copyLimitBytes', '--copy-limit'],
  ['sink', '--output'],
  ['keep', '--keep'],
  ['keepQuality', '--keep-quality'],
  ['rejects', '--rejects'],
  ['provenance', '--provenance'],
  ['suggest', '--suggest'],
  ['outputFormat', '--output-format'],
  ['fresh', '--fresh'],
  ['moved', '--moved'],
  ['limit', '--limit'],
  ["onChange: 'carry'", '--on-change carry'],
  ["onChange: 'stop'", '--on-change stop'],
  ['retryFailed', '--retry-failed'],
  ['waitLockMs', '--wait-lock'],
  ['maxCredits', '--max-credits'],
  ['batchSize', '--batch-size'],
  ['concurrency', '--concurrency'],
  ['history', '--history'],
  ['openHistory', '--history'],
  ['summary', '--summary'],
  ['report', '--report'],
  ['onDoubtfulColumns', '--yes'],
  // The service
  ['client', 'SLUICE_BASE_URL and SLUICE_API_KEY'],
  ['baseUrl', '--base-url'],
  ['requestsPerMinute', '--requests-per-minute'],
  ['settings.use_account_cache', '--no-account-cache'],
  ['settings.use_global_cache', '--no-global-cache'],
  ['settings.remove_duplicate', '--no-remove-duplicates'],
  ['settings.remove_wrong_email_format', '--no-remove-wrong-format'],
  ['settings.remove_wrong_phone_format', '--no-remove-wrong-format'],
  ['settings.description', '--description'],
  ['settings.target_audience', '--target-audience'],
  ['settings.target_market_industry', '--target-industry'],
  ['settings.target_objective', '--target-objective'],
  ['settings.max_account_cache_backoff', '--account-cache-days'],
  ['settings.max_global_cache_backoff', '--global-cache-days'],
  // The local service, and checks of a service
  ['heloName', '--helo'],
  ['mailFrom', '--mail-from'],
  ['host', '--host'],
  ['dataDir', '--data'],
  ['spend', '--spend'],
]);

/**
 * A text of the library, also as JSON or as a page, with the options that it names called as they are on
 * the command line.
 */
export function withFlags(text: string): string {
  const flagged = text
    .replaceAll(/`prefix: (\{[^`]*\})`/g, (named, prefix: string) => prefixFlags(prefix) ?? named)
    .replaceAll(
      /`([^`\n]{1,60})`/g,
      (named, name: string) => optionFlags.get(name.replaceAll('&#39;', "'")) ?? named,
    );
  // It sets two of the settings.
  const twice = '--no-remove-wrong-format';
  return flagged.replaceAll(`${twice}, ${twice}`, twice);
}

/** Prefixes of columns, as an object in JSON; its quotes may be escaped, as the text around it is. */
function prefixFlags(prefix: string): string | undefined {
  try {
    const known = JSON.parse(prefix.replaceAll(/\\"|&quot;/g, '"')) as Record<string, string>;
    const flags = Object.entries(known).map(([column, name]) => shellQuote(`${column}=${name}`));
    return flags.map((flag) => `--prefix ${flag}`).join(' ');
  } catch {
    return undefined;
  }
}
