import * as z from 'zod';
import {
  baseDetails,
  batchList,
  batchStatusAnswer,
  batchSummary,
  batchUuid,
  creditBalance,
  emailCost,
  emailParsingCounts,
  errorBody,
  finalDetails,
  launchAnswer,
  pendingDetails,
  phoneCost,
  phoneParsingCounts,
  prepareAnswer,
  successAnswer,
  unitAnswer,
  uploadAnswer,
} from '../../contract/bodies.js';
import { verificationTypes } from '../../contract/enums.js';
import { batchParameters } from '../../contract/parameters.js';
import { emailRecord, phoneRecord } from '../../contract/records.js';
import { unitBody } from '../operations/units.js';

/* The bodies of the document: the contract's schemas, with this service's choices where nothing is specified. */

const dateTime = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);
const record = z.union([emailRecord, phoneRecord]);
const cost = z.union([emailCost, phoneCost]);
const parsingCounts = z.union([emailParsingCounts, phoneParsingCounts]);

const progress = {
  parsing_counts: parsingCounts.optional(),
  cost: cost.optional(),
  results: z
    .looseObject({
      total: count,
      valid: count,
      wrong: count,
      unknown: count,
      quality: z.record(z.string(), count).optional(),
      type: z.record(z.string(), count).optional(),
    })
    .optional(),
};

const statistics = z.looseObject(progress);
const content = { content: z.string(), content_bytes: count };
const base = baseDetails.extend(content);
const pending = pendingDetails.extend({ ...content, ...progress });
const final = finalDetails.extend({ ...content, ...progress });

const namedSchemas = {
  BatchParameters: batchParameters,
  CreditBalance: creditBalance,
  BatchSummary: batchSummary,
  BatchList: batchList,
  EmailCost: emailCost,
  PhoneCost: phoneCost,
  EmailParsingCounts: emailParsingCounts,
  PhoneParsingCounts: phoneParsingCounts,
  EmailRecord: emailRecord,
  PhoneRecord: phoneRecord,
  BatchStatus: batchStatusAnswer.extend({ ...batchSummary.shape, ...progress }),
  BaseDetails: base,
  PendingDetails: pending,
  FinalDetails: final,
  BatchDetails: z.discriminatedUnion('status', [base, pending, final]),
  UploadAnswer: uploadAnswer.extend({
    batch_uuid: batchUuid.optional(),
    created_at: dateTime.optional(),
    message: z.string().optional(),
  }),
  PrepareAnswer: prepareAnswer.extend({ message: z.string().optional() }),
  LaunchAnswer: launchAnswer.extend({ message: z.string().optional() }),
  Success: successAnswer.extend({ status: z.literal('ok') }),
  UnitRequest: unitBody,
  UnitAnswer: unitAnswer.extend({
    result: record.optional(),
    cost: cost.optional(),
    message: z.string().optional(),
  }),
  FormatAnswer: z.looseObject({
    status: z.enum(['ok', 'parse_error']),
    type: z.enum(verificationTypes).optional(),
    target_country: z.string().optional(),
    results: z.array(z.object({ input: z.string(), formatted: z.string().nullable() })).optional(),
    formatted: count.optional(),
    failed: count.optional(),
    message: z.string().optional(),
  }),
  Export: z
    .object({ details: z.looseObject({}).optional(), statistics: statistics.optional() })
    .catchall(record),
  Error: errorBody,
  BadRequest: z.looseObject({ message: z.string().default('Bad Request') }),
  PaymentRequired: errorBody.extend({
    type: z.enum(verificationTypes),
    required_credits: z.number(),
    available_credits: z.number(),
  }),
  ValidationError: errorBody.extend({
    errors: z.array(z.object({ field: z.string(), message: z.string() })),
  }),
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type SchemaName = keyof typeof namedSchemas;

/** A JSON Schema, as far as the document reads it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

const home = '#/components/schemas/';

export function refTo(name: SchemaName): JsonSchema {
  return { $ref: home + name };
}

/** All named schemas, which refer to each other by name. */
export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(namedSchemas)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    ...settings,
    uri: (id) => home + id,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => [id, withoutIdentity(schema)]),
  );
}

export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return withoutIdentity(z.toJSONSchema(schema, settings));
}

/** The document itself has the location and the dialect of schemas. */
function withoutIdentity(schema: object): JsonSchema {
  const { $schema: _dialect, $id: _id, id: _name, ...rest } = schema as JsonSchema;
  return rest;
}

const settings = {
  // Fields with a default are optional, as in the specification.
  io: 'input',
  unrepresentable: 'any',
  override: ({ jsonSchema }: { readonly jsonSchema: Record<string, unknown> }): void => {
    // A client must read new words; this service sends those of the specification.
    if (Array.isArray(jsonSchema['examples'])) {
      jsonSchema['enum'] = jsonSchema['examples'];
      delete jsonSchema['examples'];
    }
    // `format` says it better.
    if (jsonSchema['format'] !== undefined) delete jsonSchema['pattern'];
    // The range of exact integers is JavaScript's, not the specification's.
    if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
    if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum'];
  },
} as const;
