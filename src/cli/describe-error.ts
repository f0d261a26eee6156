import { SluiceError } from '../index.js';
import { Interruption } from './interruption.js';
import { withFlags } from './option-flags.js';
import { printable, printableLine } from '../words/printable.js';

/** What a person reads when a command stops: one line, but for a defect. */
export function describeError(error: unknown): string {
  const isTrace = !(error instanceof SluiceError) && !(error instanceof Interruption);
  return (isTrace ? printable : printableLine)(`sluice: ${errorText(error)}`);
}

/** The same as it stands, for a log that escapes it. */
export function errorText(error: unknown): string {
  if (error instanceof Interruption) return error.message;
  if (error instanceof SluiceError) {
    return withFlags(`${error.message}${causeOf(error)}${adviceOn(error)} [${error.code}]`);
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `this is a defect in Sluice; please report it\n${trace}`;
}

/** The system's own word (ENOSPC, ECONNREFUSED), where there is one. */
function causeOf(error: SluiceError): string {
  for (let { cause } = error; cause instanceof Error; { cause } = cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (cause instanceof SluiceError) {
      const isSaid = error.message.includes(cause.message);
      return `${isSaid ? '' : `: ${cause.message}`}${causeOf(cause)}`;
    }
    if (code !== undefined) return `: ${code}`;
  }
  return '';
}

/** What to do, where the service's words do not tell it. */
function adviceOn({ code }: SluiceError): string {
  switch (code) {
    case 'unauthorized':
    case 'forbidden':
      return '; give the key of an account of this service (SLUICE_API_KEY or --api-key-file)';
    case 'payment_required':
      return '; add credits to the account, then run again';
    default:
      return '';
  }
}
