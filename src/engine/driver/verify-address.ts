import type * as z from 'zod';
import { type CallOptions, callShape } from '../../client/client-options.js';
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
import { required, text, withMethods } from '../../platform/option-kinds.js';
import { ConfigurationError, ContractError } from '../../platform/errors/errors.js';
import type { NotSubmittedReason } from '../addresses/address.js';
import { parseCountry } from '../addresses/country/parse-country.js';
import { emailLine } from '../addresses/email.js';
import { phoneLine } from '../addresses/phone/phone-line.js';
import type { CountryCodeOrName } from '../plan/plan.js';

interface AddressOptions extends Pick<CallOptions, 'signal' | 'maxRetries' | 'onSent'> {
  /** The client. */
  readonly client: Pick<VerificationService, 'verifyUnit'>;
  /** Target country: a code such as `US`, or a name. */
  readonly country: CountryCodeOrName;
  /** Longest total time, in milliseconds: somebody waits. @default 15000 */
  readonly timeoutMs?: number | undefined;
}

export interface VerifyEmailOptions extends AddressOptions {
  readonly email: string;
}

export interface VerifyPhoneOptions extends AddressOptions {
  readonly phone: string;
}

/** The result of a single address. */
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
      readonly reason: NotSubmittedReason;
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
  onSent: callShape.onSent,
};

/**
 * Verifies one email address or phone number while somebody waits; costs a credit. It is read like a cell of
 * a list: trimmed, a phone number normalised where its meaning is sure, and not sent where it cannot be an
 * address. The specification does not show where the verdict is in the answer: it is searched, and `answer`
 * has everything.
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
  if ('reason' in read) {
    const { reason } = read;
    return { verification: 'not_submitted', reason, submitted: null, record: null, answer: null };
  }
  const { line: submitted } = read;
  const answer = await client.verifyUnit(
    defaultUnitRequest({ type, address: submitted, targetCountry }),
    {
      timeoutMs,
      maxRetries: options.maxRetries,
      signal: options.signal,
      onSent: options.onSent,
    },
  );
  const record = recordOf(answer, type);
  if (record === undefined || answer.status !== 'ok') {
    const reason = answer.status === 'ok' ? 'no_record' : answer.status;
    return { verification: 'no_result', reason, submitted, record: null, answer };
  }
  const address: unknown = record[type];
  // A phone number may come back in another form; an email cannot.
  if (type === 'email' && keyOf(address) !== read.key) {
    throw new ContractError('verifyUnit: the verdict is of another address', {
      operation: 'verifyUnit',
    });
  }
  return { verification: 'verified', reason: '', submitted, record, answer };
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

function recordOf(
  answer: UnitAnswer,
  type: VerificationType,
): EmailRecord | PhoneRecord | undefined {
  for (const place of [
    ...[...places, type].map((name) => answer[name]),
    withoutStatus(answer, type),
  ]) {
    const parsed = schemas[type].safeParse(place);
    if (parsed.success) return parsed.data;
  }
  return undefined;
}

/** The answer itself may be the verdict: its `status` is still that of the request. */
function withoutStatus(answer: UnitAnswer, type: VerificationType): object {
  const { status: _, ...fields } = answer;
  return type === 'phone' ? { ...fields, status: '' } : fields;
}
