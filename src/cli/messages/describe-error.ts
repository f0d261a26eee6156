import {
  ApiError,
  ContractError,
  type ErrorPlace,
  SluiceError,
  TransportError,
} from '../../index.js';
import { exitCodeOf, exitCodes, Interruption } from '../process/exit-code.js';
import { runSentence } from '../../report/sentences/run-sentences.js';
import { optionField } from '../../platform/text/sentence.js';
import type { FieldsOf, Message } from './catalogue.js';

/** The text of an error that stops a command: one line, but for a defect. Whoever prints it must escape it. */
export function errorText(error: unknown): string {
  if (error instanceof Interruption) return error.message;
  if (error instanceof SluiceError) {
    const cause = isTechnical(error) ? '' : causeOf(error);
    const remedy = remedyFor(error);
    const advice = remedy ? runSentence(remedy, {}).message : hintOf(error);
    return `${error.message}${cause}${advice === undefined ? '' : `; ${advice}`} [${error.code}]`;
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `this is a defect in Sluice; please report it\n${trace}`;
}

export function errorFields(error: unknown): FieldsOf<'error'> {
  return {
    code: codeOf(error),
    exit_code: exitCodeOf(error),
    message: errorText(error),
    cause: technicalPart(error),
    ...placeOf(error),
  };
}

type ErrorFields = Pick<FieldsOf<'error'>, 'option' | 'differs' | 'line' | keyof ErrorPlace>;

/** What the error is about; options by their names on the command line. */
function placeOf(error: unknown): ErrorFields {
  const named = error instanceof SluiceError ? (error as Partial<ErrorFields>) : {};
  const { option, differs, file, line, rows, column, fault } = named;
  return {
    option: option && optionField(option),
    differs: differs?.map((name) => optionField(name)),
    file,
    line,
    rows,
    column,
    fault,
  };
}

export function codeOf(error: unknown): string | null {
  return error instanceof SluiceError ? error.code : null;
}

export function isTrace({ event, fields }: Message): boolean {
  return event === 'error' && fields['exit_code'] === exitCodes.defect;
}

/** The service's own answer, or a database's code, where the message says it in other words; for support. */
export function technicalPart(error: unknown): string | undefined {
  if (!(error instanceof SluiceError)) return undefined;
  if (isTechnical(error) && error.cause instanceof Error) return error.cause.message;
  const code = systemCodeOf(error);
  if (code === undefined || !isInternal(code)) return undefined;
  return ofDatabase.test(code) ? `database error ${code}` : code;
}

/** A database's code of an error: those of five characters that are the system's begin with an E. */
const ofDatabase = /^(?:[0-9A-DF-Z][0-9A-Z]{4}|(?:ER|SQLITE|WARN)_[A-Z_]+)$/;

/** Node's own codes, such as `ERR_ENCODING_INVALID_ENCODED_DATA` and `Z_DATA_ERROR`. */
const ofNode = /^(?:ERR|Z)_/;

/** Of no use to a person: the message has it in words. */
function isInternal(code: string): boolean {
  return ofDatabase.test(code) || ofNode.test(code);
}

function systemCodeOf(error: Error): string | undefined {
  for (let { cause } = error; cause instanceof Error; { cause } = cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== undefined && !(cause instanceof SluiceError)) return code;
  }
  return undefined;
}

function isTechnical({ code }: SluiceError): boolean {
  return code === 'payment_required';
}

/** The system's codes that say nothing beside the words that every message has for them. */
const plainCodes = new Set(['ENOENT', 'ENOTDIR']);

/** The system's code (ENOSPC, ECONNREFUSED), if any: messages have the words of their causes. */
function causeOf(error: SluiceError): string {
  const code = systemCodeOf(error);
  const isShown = code !== undefined && !plainCodes.has(code) && !isInternal(code);
  return isShown ? `: ${code}` : '';
}

/** Of a request whose outcome is not known. */
function hintOf(error: SluiceError): string | undefined {
  const isOfRequest =
    error instanceof ApiError || error instanceof ContractError || error instanceof TransportError;
  return isOfRequest ? error.hint : undefined;
}

/** What to do, where the service's words do not say it. */
export function remedyFor(error: SluiceError): 'give_key' | 'add_credits' | undefined {
  switch (error.code) {
    case 'batch_refused':
      return error.cause instanceof SluiceError ? remedyFor(error.cause) : undefined;
    case 'unauthorized':
    case 'forbidden':
      return 'give_key';
    case 'payment_required':
      return 'add_credits';
    default:
      return undefined;
  }
}
