import type { z } from 'zod';
import {
  apiKeyHeader,
  interfaceVersion,
  operations,
  type Operation,
  type OperationName,
} from '../../contract/operations.js';
import {
  componentSchemas,
  jsonSchemaOf,
  refTo,
  type JsonSchema,
  type SchemaName,
} from './schemas.js';

type Part = Readonly<Record<string, unknown>>;

const described: Readonly<
  Record<
    OperationName,
    {
      readonly summary: string;
      readonly answer: SchemaName;
      readonly body?: SchemaName;
    }
  >
> = {
  credits: { summary: 'Credit balances of the account', answer: 'CreditBalance' },
  listBatches: { summary: 'Batches of the account, the newest first', answer: 'BatchList' },
  uploadBatch: { summary: 'Upload a batch', answer: 'UploadAnswer' },
  batchStatus: { summary: 'Status of a batch', answer: 'BatchStatus' },
  updateBatch: {
    summary: 'Change the parameters of a batch before its launch',
    body: 'BatchParameters',
    answer: 'Success',
  },
  prepareBatch: { summary: 'Parse and prepare a batch', answer: 'PrepareAnswer' },
  launchBatch: { summary: 'Launch the verification of a batch', answer: 'LaunchAnswer' },
  deleteBatch: { summary: 'Delete a batch', answer: 'Success' },
  exportBatch: { summary: 'Results of a batch', answer: 'Export' },
  batchDetails: { summary: 'Details of a batch, with its content', answer: 'BatchDetails' },
  verifyUnit: { summary: 'Verify one address now', body: 'UnitRequest', answer: 'UnitAnswer' },
  format: { summary: 'Normalize the format of addresses', answer: 'FormatAnswer' },
};

const securityScheme = 'APIKeyHeader';

/** The specification as an OpenAPI 3.1 document, made from the schemas that check the requests. */
export function openapiDocument(): Part {
  const paths = new Map<string, Part>();
  for (const name of Object.keys(operations) as OperationName[]) {
    const { method, path } = operations[name];
    paths.set(path, { ...paths.get(path), [method.toLowerCase()]: operationOf(name) });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Data Verification Service',
      version: interfaceVersion,
      description:
        'Verifies email addresses and phone numbers, as batches or one by one. Where the ' +
        'specification does not show a shape, it is that of Sluice’s local service.',
    },
    servers: [{ url: '/' }],
    security: [{ [securityScheme]: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: {
        [securityScheme]: { type: 'apiKey', in: 'header', name: headerName(apiKeyHeader) },
      },
      schemas: componentSchemas(),
    },
  };
}

function operationOf(name: OperationName): Part {
  const operation: Operation = operations[name];
  const { summary, answer, body } = described[name];
  const parameters = parametersOf(operation);
  const requestBody = requestBodyOf(operation, body);
  return {
    operationId: name,
    summary,
    ...(operation.keyed ? {} : { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: {
      '200': { description: 'The answer', content: contentOf(operation, answer) },
      ...Object.fromEntries(
        errorsOf(operation).map((status) => [String(status), errorResponse(status)]),
      ),
    },
  };
}

function parametersOf({ path, query }: Operation): readonly Part[] {
  const inPath = path.includes('{batch_uuid}')
    ? [
        {
          name: 'batch_uuid',
          in: 'path',
          required: true,
          schema: { type: 'string', format: 'uuid' },
        },
      ]
    : [];
  if (!query) return inPath;
  const { properties = {}, required = [] } = jsonSchemaOf(query);
  const inQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
  return [...inPath, ...inQuery];
}

function requestBodyOf({ request }: Operation, body: SchemaName | undefined): Part | undefined {
  switch (request.kind) {
    case 'none':
      return undefined;
    case 'json': {
      const schema = body ? refTo(body) : jsonSchemaOf(request.schema);
      return { required: true, content: { 'application/json': { schema } } };
    }
    case 'multipart':
      return {
        required: true,
        content: { 'multipart/form-data': { schema: formSchema(request.schema) } },
      };
  }
}

/** The fields of a form, and its file, which is required (spec 2.9). */
function formSchema(fields: z.ZodType): JsonSchema {
  const schema = jsonSchemaOf(fields);
  const file = {
    type: 'string',
    contentMediaType: 'text/plain',
    description: 'UTF-8, one address a line, no header, no comma',
  };
  return {
    ...schema,
    properties: { file, ...schema.properties },
    required: ['file', ...(schema.required ?? [])],
  };
}

function contentOf({ response }: Operation, answer: SchemaName): Part {
  const json = { 'application/json': { schema: refTo(answer) } };
  if (response.kind === 'json') return json;
  return { ...json, [response.contentTypes.xlsx]: {} };
}

/** In addition to those of the specification: content beyond this service's limit. */
function errorsOf({ errors, request }: Operation): readonly number[] {
  return request.kind === 'none' ? errors : [...errors, 413];
}

function errorResponse(status: number): Part {
  const { description, schema } = errorResponses.get(status) ?? {
    description: 'Error',
    schema: 'Error',
  };
  return { description, content: { 'application/json': { schema: refTo(schema) } } };
}

const errorResponses: ReadonlyMap<
  number,
  { readonly description: string; readonly schema: SchemaName }
> = new Map([
  [400, { description: 'Bad Request', schema: 'BadRequest' }],
  [401, { description: 'Unauthorized', schema: 'Error' }],
  [402, { description: 'Payment Required', schema: 'PaymentRequired' }],
  [403, { description: 'Forbidden', schema: 'Error' }],
  [404, { description: 'Not Found', schema: 'Error' }],
  [413, { description: 'Content Too Large', schema: 'Error' }],
  [422, { description: 'Validation Error', schema: 'ValidationError' }],
  [429, { description: 'Too Many Requests', schema: 'Error' }],
  [500, { description: 'Internal Server Error', schema: 'Error' }],
]);

/** `x-api-key` as the specification writes it: `X-Api-Key`. */
function headerName(lower: string): string {
  return lower.replaceAll(/(^|-)([a-z])/g, (_, before: string, letter: string) => {
    return before + letter.toUpperCase();
  });
}
