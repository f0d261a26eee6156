import type * as z from 'zod';
import { type CallOptions, callShape } from '../../client/client-options.js';
import { meaninglessAnswer } from '../../client/http/response.js';
import type { VerificationService } from '../../client/client.js';
import type { UnitAnswer } from '../../contract/bodies.js';
import type { Open, UnitStatus, VerificationType } from '../../contract/enums.js';
import { defaultUnitRequest } from '../../contract/parameters.js';
import {
  type EmailRecord,
  emailRecord,
  type PhoneRecord,
  phoneRecord,
} from '../../contract/records.js';
import { checkOptions, type OptionShape } from '../../platform/check-options.js';
import { flag, required, text, withMethods } from '../../platform/option-kinds.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import type { NotSubmittedReason } from '../addresses/address.js';
import { parseCountry } from '../addresses/country/parse-country.js';
import { emailLine } from '../addresses/email.js';
import { phoneLine } from '../addresses/phone/phone-line.js';
import type { CountryCodeOrName } from '../plan/plan.js';
import { statusIn } from './batch-requests.js';
import { shareCall } from './shared-call.js';

interface AddressOptions extends Pick<CallOptions, 'signal' | 'maxRetries' | 'graceMs' | 'onSent'> {
  /** The client. */
  readonly client: Pick<VerificationService, 'verifyUnit'>;
  /** Target country: a code such as `US`, or a name. */
  readonly country: CountryCodeOrName;
  /** Longest total time, in milliseconds: somebody waits. @default 15000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether what cannot be an address is kept from the service, which would charge for it: a batch removes it
   * unpaid.
   *
   * @default true
   */
  readonly removeWrongFormat?: boolean | undefined;
}

export interface VerifyEmailOptions extends AddressOptions {
  readonly email: string;
}

export interface VerifyPhoneOptions extends AddressOptions {
  readonly phone: string;
}

/** The result of a single address. Fields of the service that `record` has no type for are in `answer`. */
export type AddressVerdict<Verdict = EmailRecord | PhoneRecord> =
  | {
      readonly verification: 'verified';
      readonly reason: '';
      /** The line that was sent. */
      readonly submitted: string;
      /** `status` of a phone number is '' where the answer has room for its own alone. */
      readonly record: Verdict;
      readonly answer: UnitAnswer;
    }
  | {
      /** Not an address of its type: nothing was sent, nothing paid. */
      readonly verification: 'not_submitted';
      readonly reason: NotSubmittedReason | 'malformed';
      readonly submitted: null;
      readonly record: null;
      readonly answer: null;
    }
  | {
      /** The service answered without a verdict. */
      readonly verification: 'no_result';
      /** Its status; `no_record` where that is `ok`. */
      readonly reason: Open<Exclude<UnitStatus, 'ok'> | 'no_record'>;
      readonly submitted: string;
      readonly record: null;
      readonly answer: UnitAnswer;
    };

const defaultTimeoutMs = 15_000;

const shape: OptionShape<VerifyEmailOptions & VerifyPhoneOptions> = {
  client: required(withMethods('a Client', 'verifyUnit')),
  email: text,
  phone: text,
  country: required({ ...text, what: 'a country such as "US"' }),
  timeoutMs: callShape.timeoutMs,
  maxRetries: callShape.maxRetries,
  signal: callShape.signal,
  graceMs: callShape.graceMs,
  onSent: callShape.onSent,
  removeWrongFormat: flag,
};

/**
 * Verifies one email address or phone number while somebody waits; costs a credit. It is read like a cell of
 * a list: trimmed, a phone number normalised where its meaning is sure. What cannot be an address is not sent.
 * Calls with the same options at the same time are one, and pay once; a later call pays again. The
 * specification does not show where the verdict is in the answer: it is searched, and `answer` has everything.
 *
 * @throws ConfigurationError `invalid_option`; as `Client.verifyUnit()` does. `sent` of the error shows
 * whether it may have been paid; of an abort, which throws the reason of `signal`, `onSent` does
 *
 * @example
 * ```ts
 * const { record } = await verifyAddress({ client, email: ' good@sluice.test', country: 'US' });
 * console.log(record?.valid); // true
 * ```
 */
export async function verifyAddress(
  options: VerifyEmailOptions,
): Promise<AddressVerdict<EmailRecord>>;
export async function verifyAddress(
  options: VerifyPhoneOptions,
): Promise<AddressVerdict<PhoneRecord>>;
export async function verifyAddress(
  options: AddressOptions & { readonly email?: string; readonly phone?: string },
): Promise<AddressVerdict> {
  checkOptions(options, shape);
  const { client, email, phone, timeoutMs = defaultTimeoutMs } = options;
  if ((email === undefined) === (phone === undefined)) {
    throw new ConfigurationError('give an email or a phone, and one of them alone', {
      option: 'email',
    });
  }
  const type = email === undefined ? 'phone' : 'email';
  const targetCountry = parseCountry(options.country);
  const read = email === undefined ? phoneLine(phone ?? '', targetCountry) : emailLine(email);
  const { removeWrongFormat = true } = options;
  if ('reason' in read || (removeWrongFormat && isMalformed(type, read.line))) {
    const reason = 'reason' in read ? read.reason : 'malformed';
    return { verification: 'not_submitted', reason, submitted: null, record: null, answer: null };
  }
  const { line: submitted } = read;
  const request = defaultUnitRequest({ type, address: submitted, targetCountry });
  const { maxRetries, graceMs, signal, onSent } = options;
  const call = { timeoutMs, maxRetries, graceMs };
  const answer = await shareCall(
    client,
    JSON.stringify([type, read.key, targetCountry, call]),
    { signal, onSent },
    async (shared) => client.verifyUnit(request, { ...call, ...shared }),
  );
  const status = statusIn(answer, 'verifyUnit');
  const record = recordOf(answer, type);
  if (record === undefined || status !== 'ok') {
    if (status === 'ok') warnOfOddVerdict(client, answer, type);
    const reason = status === 'ok' ? 'no_record' : status;
    return { verification: 'no_result', reason, submitted, record: null, answer };
  }
  const address: unknown = (record as Readonly<Record<string, unknown>>)[type];
  // A phone number may come back in another form; an email cannot.
  if (type === 'email' && keyOf(address) !== read.key) {
    throw await meaninglessAnswer(answer, 'verification of an address: the verdict is of another', {
      operation: 'verifyUnit',
      sent: { open: () => [Buffer.from(submitted)] },
    });
  }
  return { verification: 'verified', reason: '', submitted, record, answer };
}

/** Outside of quotes, no mail system takes these in an address (RFC 5322 3.2.3), nor white space. */
const notInEmail = /[\s()<>[\]:;\\]/;
/** No country has shorter numbers; letters may stand for digits (800-FLOWERS). */
const fewestSigns = 4;

/** Whether a line surely is no address, which a service that charges first may not say. */
export function isMalformed(type: VerificationType, line: string): boolean {
  if (type === 'phone') {
    const signs = line.match(/[\p{Nd}\p{L}]/gu)?.length ?? 0;
    return !/\p{Nd}/u.test(line) || signs < fewestSigns;
  }
  if (line.startsWith('"')) return false;
  const [local, domain, ...more] = line.split('@');
  return !local || !domain || more.length > 0 || notInEmail.test(line);
}

function keyOf(address: unknown): string | undefined {
  const read = emailLine(String(address));
  return 'key' in read ? read.key : undefined;
}

const schemas: Readonly<Record<VerificationType, z.ZodType<EmailRecord | PhoneRecord>>> = {
  email: emailRecord,
  phone: phoneRecord,
};

/** Members of the answer that may hold the verdict. */
const places = ['result', 'record', 'data'];

/** What may be the verdict. The answer itself may be: its `status` is still that of the request. */
function candidatesIn(answer: UnitAnswer, type: VerificationType): readonly unknown[] {
  const { status: _, ...fields } = answer;
  const whole = type === 'phone' ? { ...fields, status: '' } : fields;
  return [...[...places, type].map((name) => answer[name]), whole];
}

function recordOf(
  answer: UnitAnswer,
  type: VerificationType,
): EmailRecord | PhoneRecord | undefined {
  for (const candidate of candidatesIn(answer, type)) {
    const parsed = schemas[type].safeParse(candidate);
    if (parsed.success) return parsed.data;
  }
  return undefined;
}

/** Those of which it was said. */
const warned = new WeakSet<object>();

/** Says once for a client which fields a verdict lacks that would be one in an export. */
function warnOfOddVerdict(client: object, answer: UnitAnswer, type: VerificationType): void {
  if (warned.has(client)) return;
  const verdict = candidatesIn(answer, type).find(
    (candidate) =>
      typeof (candidate as { valid?: unknown } | null | undefined)?.valid === 'boolean',
  );
  const { error } = schemas[type].safeParse(verdict);
  if (verdict === undefined || !error) return;
  warned.add(client);
  const fields = [...new Set(error.issues.map(({ path }) => String(path[0])))].join(', ');
  process.emitWarning(
    `the verdict that verifyUnit() answers with counts as none (no_record), because these of its fields are missing or of another kind: ${fields}`,
    { type: 'SluiceWarning', code: 'SLUICE_ODD_VERDICT', detail: fields },
  );
}
