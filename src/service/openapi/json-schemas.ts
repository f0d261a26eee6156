import * as z from 'zod';
import { namedSchemas, type SchemaName } from './named-schemas.js';

/** A JSON Schema, as far as the document looks into it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** Where the document has its schemas. */
const home = '#/components/schemas/';

export function refTo(name: SchemaName): JsonSchema {
  return { $ref: home + name };
}

/** All named schemas, each referring to the others by name. */
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

/** One schema by itself, for the fields of a form or the parameters of a query. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return withoutIdentity(z.toJSONSchema(schema, settings));
}

/** The document says where a schema stands and which dialect all are of. */
function withoutIdentity(schema: object): JsonSchema {
  const { $schema: _dialect, $id: _id, id: _name, ...rest } = schema as JsonSchema;
  return rest;
}

const settings = {
  // What may be left out is optional, as the specification has it, also where a default fills it.
  io: 'input',
  unrepresentable: 'any',
  override: ({ jsonSchema }: { readonly jsonSchema: Record<string, unknown> }): void => {
    // A client must read words that are new; this service sends those of the specification.
    if (Array.isArray(jsonSchema['examples'])) {
      jsonSchema['enum'] = jsonSchema['examples'];
      delete jsonSchema['examples'];
    }
    // What `format` says better.
    if (jsonSchema['format'] !== undefined) delete jsonSchema['pattern'];
    // The range of exact integers is JavaScript's, not the specification's.
    if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
    if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum'];
  },
} as const;
