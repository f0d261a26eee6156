import { createHmac } from 'node:crypto';
import { ConfigurationError } from '../platform/errors/errors.js';

const placeholder = '[key]';

/** Shorter keys occur in ordinary words: redacting them would only garble the text. */
const shortestRedacted = 4;

/** An API key that cannot be printed by accident: inspection, conversion and serialisation hide it. */
export class ApiKey {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  fingerprint(salt: string): string {
    return createHmac('sha256', salt).update(this.#value).digest('hex');
  }

  equals(other: ApiKey): boolean {
    return this.#value === other.#value;
  }

  /** Removes the key from a text that came from outside: a service may repeat what it was sent. */
  redact(text: string): string {
    if (this.#value.length < shortestRedacted) return text;
    return text.replaceAll(this.#value, placeholder);
  }
}

/**
 * Checks a key; surrounding blanks and line ends are dropped, as files end in one.
 *
 * @throws ConfigurationError `invalid_option`: empty, or with characters that a header cannot carry
 */
export function parseApiKey(text: string): ApiKey {
  const value = text.trim();
  if (value === '')
    throw new ConfigurationError('the API key is empty', { option: 'apiKey', fault: 'empty' });
  if (!/^[\u0020-\u007e\u00a0-\u00ff]+$/.test(value)) {
    throw new ConfigurationError(
      'the API key holds a line break, a control character or one that is not Latin-1',
      { option: 'apiKey' },
    );
  }
  return new ApiKey(value);
}

/** The key of a client: constant, or the latest that its function returned. */
export class KeyRing {
  readonly #ask: (() => string | Promise<string>) | undefined;
  #latest: ApiKey | undefined;
  /** Answers to requests sent with it may still arrive. */
  #before: ApiKey | undefined;
  #asked: Promise<ApiKey> | undefined;

  constructor(input: string | (() => string | Promise<string>)) {
    if (typeof input === 'function') this.#ask = input;
    else this.#latest = parseApiKey(input);
  }

  get latest(): ApiKey {
    if (this.#latest) return this.#latest;
    throw new Error('a key is used that was not waited for');
  }

  /** @throws ConfigurationError `invalid_option`: the function fails, or returns no key */
  async get(): Promise<ApiKey> {
    return this.#latest ?? this.#askOnce();
  }

  /** Replaces a refused key: once for all requests that were refused with it. @returns whether there is a new key */
  async renew(refused: ApiKey): Promise<boolean> {
    if (this.#ask && this.#latest === refused) await this.#askOnce();
    return !this.latest.equals(refused);
  }

  /** Whether a key is asked for, and not given yet. */
  get isAsked(): boolean {
    return this.#asked !== undefined;
  }

  redact(text: string): string {
    const redacted = this.#latest?.redact(text) ?? text;
    return this.#before?.redact(redacted) ?? redacted;
  }

  async #askOnce(): Promise<ApiKey> {
    this.#asked ??= this.#askNow().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  async #askNow(): Promise<ApiKey> {
    let given: unknown;
    try {
      given = await this.#ask?.();
    } catch (cause) {
      throw new ConfigurationError('apiKey() failed: it must give the API key', {
        cause,
        option: 'apiKey',
      });
    }
    if (typeof given !== 'string') {
      throw new ConfigurationError(`apiKey() must give a string, not ${typeof given}`, {
        option: 'apiKey',
      });
    }
    const key = parseApiKey(given);
    this.#before = this.#latest;
    this.#latest = key;
    return key;
  }
}
