import type * as z from 'zod';
import { batchUuid as batchUuidSchema } from '../../contract/bodies.js';
import { verificationTypes, type VerificationType } from '../../contract/enums.js';
import { operations, type Operation, type OperationName } from '../../contract/operations.js';
import type { UnitRequest } from '../../contract/parameters.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { checkNames } from '../../platform/check-options.js';
import { record, shapeOfSchema } from '../../platform/option-kinds.js';
import type { BaseUrl } from '../client-options.js';
import type { SentLines } from '../redaction.js';
import { createMultipart, type FieldValue, type UploadFile } from './multipart.js';

export interface CallInput {
  readonly batchUuid?: string;
  readonly query?: unknown;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, unknown>> & { readonly file: UploadFile };
  /** The lines that the call is about, where it does not send them itself. */
  readonly sent?: SentLines | undefined;
}

export interface WireRequest {
  readonly operation: OperationName;
  /** What it is about, for messages: the operation's name, and the uuid of its batch, or the name of an upload. */
  readonly subject: string;
  readonly priority: number;
  readonly method: Operation['method'];
  readonly origin: string;
  readonly path: string;
  /** All but the key's. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sent: SentLines | undefined;
  /** The type of the one credit that it costs, for messages. */
  readonly creditType: VerificationType | undefined;
  readonly body: string | (() => AsyncGenerator<Uint8Array, void, undefined>) | undefined;
}

export interface WireSettings {
  readonly base: BaseUrl;
  readonly hasKey: boolean;
  readonly userAgent: string;
  /** Connections of our own are known to send a chunk before they ask for another. */
  readonly isDefaultDispatcher: boolean;
}

/**
 * Makes the request of an operation from what its caller gave, checked by the contract.
 *
 * @throws ConfigurationError `invalid_option`: a value that the contract does not allow, a batch_uuid
 *   that is no uuid, or no key where one is needed. Nothing is sent then.
 */
export function createWireRequest(
  operation: OperationName,
  input: CallInput,
  settings: WireSettings,
): WireRequest {
  const shape: Operation = operations[operation];
  const headers: Record<string, string> = {
    'user-agent': settings.userAgent,
    // What content-coding.ts unpacks.
    'accept-encoding': 'gzip, br',
  };
  if (shape.keyed && !settings.hasKey) throw noKeyError(operation);
  const { subject, priority } = kinds[operation];
  const of = input.batchUuid ?? input.form?.['name'];
  return {
    operation,
    subject: typeof of === 'string' ? `${subject} ${of}` : subject,
    priority,
    method: shape.method,
    origin: settings.base.origin,
    path: settings.base.prefix + pathOf(operation, shape, input),
    headers,
    sent: input.sent ?? input.form?.file ?? unitLine(input.json),
    creditType: operation === 'verifyUnit' ? checkedUnitType(input.json) : undefined,
    body: addBody(shape, { operation, input, settings }, headers),
  };
}

/**
 * What is asked for, in messages; of a batch, its id follows. And the order of requests; smaller goes earlier. What
 * ends a batch frees the most: launches and exports go before uploads, uploads before polls. A person waits for a
 * unit verification.
 */
const kinds: Readonly<Record<OperationName, { subject: string; priority: number }>> = {
  credits: { subject: 'the balance', priority: 1 },
  listBatches: { subject: 'the list of batches', priority: 3 },
  uploadBatch: { subject: 'upload of batch', priority: 2 },
  batchStatus: { subject: 'status of batch', priority: 4 },
  updateBatch: { subject: 'update of batch', priority: 1 },
  prepareBatch: { subject: 'preparation of batch', priority: 1 },
  launchBatch: { subject: 'launch of batch', priority: 0 },
  deleteBatch: { subject: 'deletion of batch', priority: 3 },
  exportBatch: { subject: 'export of batch', priority: 0 },
  batchDetails: { subject: 'details of batch', priority: 3 },
  verifyUnit: { subject: 'verification of an address', priority: 0 },
  format: { subject: 'format of a file', priority: 2 },
};

/**
 * The type of a unit verification, where it shows.
 *
 * @throws ConfigurationError `invalid_option` where an email and a phone are given without a type: only the service
 *   would know which of them it has verified, and charged
 */
function checkedUnitType(unit: unknown): VerificationType | undefined {
  const given = unitAddresses(unit).map(([type]) => type);
  const wanted = record.isRight(unit) ? (unit as UnitRequest)['type'] : undefined;
  if (given.length > 1 && (wanted === undefined || wanted === null)) {
    throw new ConfigurationError(
      `verifyUnit: ${given.join(' and ')} are given, and no type: name the one to verify, such as type: "${given[0]}"`,
      { option: 'type', fault: 'missing' },
    );
  }
  return verificationTypes.find((type) => type === wanted) ?? given[0];
}

function unitLine(unit: unknown): SentLines | undefined {
  const text = unitAddresses(unit)
    .map(([, address]) => address)
    .join('\n');
  return text === '' ? undefined : { open: () => [Buffer.from(text)] };
}

function unitAddresses(unit: unknown): (readonly [VerificationType, string])[] {
  if (!record.isRight(unit)) return [];
  return verificationTypes.flatMap((type) => {
    const address = (unit as UnitRequest)[type];
    return typeof address === 'string' ? [[type, address] as const] : [];
  });
}

function noKeyError(operation: OperationName): ConfigurationError {
  return new ConfigurationError(
    `${operation} needs an API key, and the client has none: give it apiKey`,
    { option: 'apiKey', fault: 'missing' },
  );
}

function pathOf(operation: OperationName, shape: Operation, input: CallInput): string {
  let path = shape.path;
  if (path.includes('{batch_uuid}')) {
    // A uuid holds nothing that could lead the request to another path.
    const uuid = batchUuidSchema.safeParse(input.batchUuid);
    if (!uuid.success)
      throw new ConfigurationError(`${operation} needs a batch_uuid that is a uuid`, {
        option: 'batch_uuid',
      });
    path = path.replace('{batch_uuid}', uuid.data);
  }
  if (shape.query === undefined) return path;
  const query = new URLSearchParams();
  const values = checked(operation, shape.query, input.query) as Record<string, FieldValue>;
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  return `${path}?${query.toString()}`;
}

function addBody(
  shape: Operation,
  call: {
    readonly operation: OperationName;
    readonly input: CallInput;
    readonly settings: WireSettings;
  },
  headers: Record<string, string>,
): WireRequest['body'] {
  const { operation, input, settings } = call;
  switch (shape.request.kind) {
    case 'none':
      return undefined;
    case 'json':
      headers['content-type'] = 'application/json';
      return JSON.stringify(checked(operation, shape.request.schema, input.json));
    case 'multipart': {
      const { file, ...fields } = input.form ?? {};
      const form = createMultipart(
        checked(operation, shape.request.schema, fields) as Record<string, FieldValue>,
        checkedFile(operation, file),
      );
      headers['content-type'] = form.contentType;
      headers['content-length'] = String(form.contentLength);
      return () => form.open(settings.isDefaultDispatcher);
    }
  }
}

function checkedFile(operation: OperationName, file: UploadFile | undefined): UploadFile {
  const sizeBytes: unknown = file?.sizeBytes;
  if (!Number.isSafeInteger(sizeBytes) || Number(sizeBytes) < 0) {
    throw new ConfigurationError(
      `${operation}: file.sizeBytes must be a number of bytes: a file is { sizeBytes, open }, such as { sizeBytes: bytes.length, open: () => [bytes] }`,
      { option: 'file.sizeBytes' },
    );
  }
  if (typeof file?.open === 'function') return file;
  throw new ConfigurationError(
    `${operation}: file.open must be a function, such as () => createReadStream("list.txt")`,
    { option: 'file.open' },
  );
}

/** The value with the contract's defaults filled in; its message names the field and not the value. */
function checked(operation: OperationName, schema: z.ZodObject, value: unknown): unknown {
  const shape = shapeOfSchema(schema);
  const takesAll = schema.def.catchall !== undefined;
  const given: unknown = takesAll ? value : (value ?? {});
  const names = Object.keys(shape);
  if (!takesAll && record.isRight(given)) checkNames(given as object, names, { within: operation });
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path[0];
  const wanted = shape[String(field)];
  if (wanted)
    throw new ConfigurationError(`${operation}: ${String(field)} must be ${wanted.what}`, {
      option: String(field),
    });
  const form = takesAll
    ? '{ type: "email", email: "ana@example.org", target_country: "US" }'
    : `{ ${names.join(', ')} }`;
  throw new ConfigurationError(`${operation} needs an object such as ${form}`, {
    option: operation,
  });
}
