import type { BatchStatus } from '../contract/enums.js';

/**
 * Where the specification is silent, services may differ. These switches make the local service answer
 * differently, so that clients can be tested.
 */
export interface ServiceVariants {
  /**
   * Position of `batch_uuid` in an upload answer: beside the status, inside an object `batch`, or nowhere.
   *
   * @default 'flat'
   */
  readonly upload?: 'flat' | 'nested' | 'no_uuid';
  /**
   * Whether parsing waits for PATCH.
   *
   * @default true
   */
  readonly prepareNeeded?: boolean;
  /**
   * The state right after the upload: with `ready_for_verification` the upload is answered when its
   * content is parsed, and no PATCH is needed.
   *
   * @default 'parsing_content'
   */
  readonly stateAfterUpload?: 'parsing_content' | 'ready_for_verification';
  /**
   * Form of addresses in exports, as keys and inside the records. `e164` and `national` apply to phones,
   * `lower` and `upper` to letters.
   *
   * @default 'as_submitted'
   */
  readonly exportKeys?: 'as_submitted' | 'lower' | 'upper' | 'e164' | 'national';
  /**
   * Position of the sections `details` and `statistics` in an export: at its end on request, or always, in
   * front or at the end.
   *
   * @default 'as_asked'
   */
  readonly exportSections?: 'as_asked' | 'always_front' | 'always_end';
  /**
   * Adds unknown fields to every JSON object of an answer.
   *
   * @default false
   */
  readonly extraFields?: boolean;
  /**
   * Whether answers carry costs, parsing counts and results.
   *
   * @default true
   */
  readonly counts?: boolean;
  /** Words in place of the specification's statuses. */
  readonly statusWords?: Partial<Record<BatchStatus, string>>;
}

export type Variants = Required<ServiceVariants>;

export const defaultVariants: Variants = {
  upload: 'flat',
  prepareNeeded: true,
  stateAfterUpload: 'parsing_content',
  exportKeys: 'as_submitted',
  exportSections: 'as_asked',
  extraFields: false,
  counts: true,
  statusWords: {},
};

export const extraFields = {
  x_trace: 'c0ffee',
  x_internal: { tags: ['a', 'b'], score: 0.5, none: null },
} as const;

/** Adds the extra fields to an object, or to each object of an array, if the variant is on. */
export function withExtraFields(variants: Variants, body: unknown): unknown {
  if (!variants.extraFields || typeof body !== 'object' || body === null) return body;
  if (Array.isArray(body)) return body.map((item) => withExtraFields(variants, item));
  return { ...body, ...extraFields };
}
