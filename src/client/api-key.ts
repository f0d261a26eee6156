import { createHmac } from 'node:crypto';
import { ConfigurationError } from '../platform/errors/errors.js';

/** What stands in a text where the key stood. */
const placeholder = '[key]';

/** Below this, a key's text stands in ordinary words, and taking it out would only garble them. */
const shortestRedacted = 4;

/**
 * An API key that cannot be printed by accident: no inspection, conversion or serialisation shows it.
 */
export class ApiKey {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The key itself, for the request header and nothing else. */
  reveal(): string {
    return this.#value;
  }

  /** A hash of the key under a secret salt, in hex. */
  fingerprint(salt: string): string {
    return createHmac('sha256', salt).update(this.#value).digest('hex');
  }

  /** Takes the key out of a text that came from outside: a service may repeat what it was sent. */
  redact(text: string): string {
    if (this.#value.length < shortestRedacted) return text;
    return text.replaceAll(this.#value, placeholder);
  }
}

/**
 * Checks a key; blanks and line ends around it are dropped, as files end in one.
 *
 * @throws ConfigurationError `invalid_option`: empty, or with characters that no header can carry
 */
export function parseApiKey(text: string): ApiKey {
  const value = text.trim();
  if (value === '') throw new ConfigurationError('the API key is empty');
  if (!/^[\u0020-\u007e\u00a0-\u00ff]+$/.test(value)) {
    throw new ConfigurationError(
      'the API key holds a line break, a control character or one that is not Latin-1',
    );
  }
  return new ApiKey(value);
}
