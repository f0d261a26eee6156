import type { z } from 'zod';
import {
  batchDetails,
  batchList,
  batchStatusAnswer,
  creditBalance,
  formatAnswer,
  launchAnswer,
  prepareAnswer,
  successAnswer,
  unitAnswer,
  uploadAnswer,
} from './bodies.js';
import {
  batchParameters,
  exportQuery,
  formatForm,
  listQuery,
  unitRequest,
  uploadForm,
} from './parameters.js';

/** What an operation takes beside its path. */
export type RequestShape =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly schema: z.ZodObject }
  /** multipart/form-data: the fields of the schema and a binary field named `file`. */
  | { readonly kind: 'multipart'; readonly schema: z.ZodObject };

export type ResponseShape =
  | { readonly kind: 'json'; readonly schema: z.ZodType }
  /** The export: JSON keyed by address, or a spreadsheet; streamed, never one string. */
  | {
      readonly kind: 'export';
      readonly contentTypes: { readonly json: string; readonly xlsx: string };
    };

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the base URL; `{batch_uuid}` stands for a batch's identifier. */
  readonly path: string;
  /** Whether the request carries `X-Api-Key` (spec 5). */
  readonly keyed: boolean;
  /**
   * Whether the operation is idempotent, so that it may be repeated after a lost answer: reads, and what the
   * specification calls so (spec 3, rules 1 and 2).
   */
  readonly repeatable: boolean;
  readonly query?: z.ZodObject;
  readonly request: RequestShape;
  readonly response: ResponseShape;
  /** Error statuses the operation documents (spec 7). */
  readonly errors: readonly number[];
}

const keyedErrors = [400, 401, 403, 404, 422, 429, 500] as const;
const paidErrors = [400, 401, 402, 403, 404, 422, 429, 500] as const;
const none = { kind: 'none' } as const;

function json<Schema extends z.ZodType>(
  schema: Schema,
): { readonly kind: 'json'; readonly schema: Schema } {
  return { kind: 'json', schema };
}

/** The twelve operations: client and local service are both made from this table. */
export const operations = {
  credits: {
    method: 'GET',
    path: '/v1/account/credits',
    keyed: true,
    repeatable: true,
    request: none,
    response: json(creditBalance),
    errors: keyedErrors,
  },
  listBatches: {
    method: 'GET',
    path: '/v1/batch',
    keyed: true,
    repeatable: true,
    query: listQuery,
    request: none,
    response: json(batchList),
    errors: keyedErrors,
  },
  uploadBatch: {
    method: 'POST',
    path: '/v1/batch',
    keyed: true,
    repeatable: false,
    request: { kind: 'multipart', schema: uploadForm },
    response: json(uploadAnswer),
    errors: keyedErrors,
  },
  batchStatus: {
    method: 'GET',
    path: '/v1/batch/{batch_uuid}',
    keyed: true,
    repeatable: true,
    request: none,
    response: json(batchStatusAnswer),
    errors: keyedErrors,
  },
  updateBatch: {
    method: 'PUT',
    path: '/v1/batch/{batch_uuid}',
    keyed: true,
    repeatable: true,
    request: json(batchParameters),
    response: json(successAnswer),
    errors: keyedErrors,
  },
  prepareBatch: {
    method: 'PATCH',
    path: '/v1/batch/{batch_uuid}',
    keyed: true,
    repeatable: true,
    request: none,
    response: json(prepareAnswer),
    errors: keyedErrors,
  },
  launchBatch: {
    method: 'POST',
    path: '/v1/batch/{batch_uuid}',
    keyed: true,
    repeatable: false,
    request: none,
    response: json(launchAnswer),
    errors: paidErrors,
  },
  deleteBatch: {
    method: 'DELETE',
    path: '/v1/batch/{batch_uuid}',
    keyed: true,
    // A second deletion answers 404, which the caller takes for success.
    repeatable: true,
    request: none,
    response: json(successAnswer),
    errors: keyedErrors,
  },
  exportBatch: {
    method: 'GET',
    path: '/v1/batch/{batch_uuid}/export',
    keyed: true,
    repeatable: true,
    query: exportQuery,
    request: none,
    response: {
      kind: 'export',
      contentTypes: {
        json: 'application/json',
        xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      },
    },
    errors: keyedErrors,
  },
  batchDetails: {
    method: 'GET',
    path: '/v1/batch/{batch_uuid}/details',
    keyed: true,
    repeatable: true,
    request: none,
    response: json(batchDetails),
    errors: keyedErrors,
  },
  verifyUnit: {
    method: 'POST',
    path: '/v1/unit',
    keyed: true,
    repeatable: false,
    request: json(unitRequest),
    response: json(unitAnswer),
    errors: paidErrors,
  },
  format: {
    method: 'POST',
    path: '/v1/format',
    // Spec 4, note 5: no authentication is declared, so the key is never sent there.
    keyed: false,
    repeatable: true,
    request: { kind: 'multipart', schema: formatForm },
    response: json(formatAnswer),
    errors: [400, 404, 422, 429, 500],
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

/** Name of the header that carries the key (spec 5). */
export const apiKeyHeader = 'x-api-key';

/** Version of the interface description (spec 9). */
export const interfaceVersion = '1.0.0';
