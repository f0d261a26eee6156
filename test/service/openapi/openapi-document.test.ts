import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { operations } from '../../../src/contract/operations.js';
import { ServiceClock, withService } from '../with-service.js';
import { multipart, Wire, type Answer } from '../wire.js';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
  readonly contentMediaType?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
}
type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
interface Described {
  readonly operationId: keyof typeof operations;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, unknown>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

let document: Document;

beforeAll(async () => {
  const { createService } = await import('../../../src/service/index.js');
  const service = await createService();
  document = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as Document;
  await service.close();
});

/** Whether a body is what the document says of it: read by the document's own schemas alone. */
function fits(schema: Schema, body: unknown): boolean {
  const inDefs = JSON.stringify({ ...schema, $defs: document.components.schemas }).replaceAll(
    '#/components/schemas/',
    '#/$defs/',
  );
  return z
    .fromJSONSchema(JSON.parse(inDefs) as Parameters<typeof z.fromJSONSchema>[0])
    .safeParse(body).success;
}

function resolved(schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : resolved(document.components.schemas[name] ?? {});
}

/** The smallest value that a schema takes. */
function sample(given: Schema): unknown {
  const schema = resolved(given);
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf?.[0]) return sample(schema.anyOf[0]);
  if (schema.format === 'date-time') return '2026-01-02T03:04:05Z';
  switch (schema.type) {
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return true;
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sample(schema.properties?.[name] ?? {})]),
      );
    default:
      return 'x';
  }
}

const file = Buffer.from('good@sluice.test\nnothing\n');

/** A request made from the document alone; `spoil` makes its values wrong. */
function requestOf(path: string, described: Described, uuid: string, isSpoilt = false) {
  const query = new URLSearchParams();
  for (const { name, in: place, required, schema } of described.parameters ?? []) {
    if (place === 'query' && required) query.set(name, isSpoilt ? '?' : String(last(schema)));
  }
  const target = `${path.replace('{batch_uuid}', uuid)}?${query.toString()}`;
  const [type, content] = Object.entries(described.requestBody?.content ?? {})[0] ?? [];
  if (type === undefined || !content?.schema) return { target, sent: {} };
  const fields = sample(content.schema) as Record<string, unknown>;
  if (isSpoilt) for (const name of Object.keys(fields)) fields[name] = '?';
  if (type === 'multipart/form-data') {
    const texts = Object.entries(fields)
      .filter(([name]) => name !== 'file')
      .map(([name, value]) => [name, String(value)] as const);
    return { target, sent: multipart(Object.fromEntries(texts), file) };
  }
  return { target, sent: { body: JSON.stringify(fields), headers: { 'Content-Type': type } } };
}

/** Of the formats of an export, the one that is JSON. */
function last(schema: Schema): unknown {
  return schema.enum?.at(-1) ?? sample(schema);
}

function described(operationId: string): { path: string; method: string; operation: Described } {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId === operationId) return { path, method, operation };
    }
  }
  throw new Error(`the document has no ${operationId}`);
}

async function drive(wire: Wire, operationId: string, uuid = '', isSpoilt = false) {
  const { path, method, operation } = described(operationId);
  const { target, sent } = requestOf(path, operation, uuid, isSpoilt);
  const answer = await wire.send(method.toUpperCase(), target, sent);
  return { answer, operation };
}

/** The answer is one that the document has, with the body that it says. */
function expectDocumented({ answer, operation }: { answer: Answer; operation: Described }) {
  const response = operation.responses[String(answer.status)];
  expect(response, `${operation.operationId} ${answer.status}`).toBeDefined();
  const schema = response?.content['application/json']?.schema ?? {};
  expect(fits(schema, answer.json), `${operation.operationId}: ${answer.text}`).toBe(true);
}

describe('/openapi.json', () => {
  it('is a valid OpenAPI 3.1 document of the interface’s version, and asks for no key', async () => {
    const { wire } = await withService();
    const answer = await wire.get('/openapi.json', { key: null });
    expect(answer.status).toBe(200);
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.0');
    expect(document.components.securitySchemes).toEqual({
      APIKeyHeader: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
    });
    const validated = await new Validator().validate(
      JSON.parse(answer.text) as Record<string, unknown>,
    );
    expect(validated).toEqual({ valid: true });
  });

  it('has every operation of the contract, with its errors, and no other', () => {
    for (const [name, { path, method, keyed, errors }] of Object.entries(operations)) {
      const found = described(name);
      expect([found.path, found.method]).toEqual([path, method.toLowerCase()]);
      expect(found.operation.security).toEqual(keyed ? undefined : []);
      expect(Object.keys(found.operation.responses)).toEqual(
        expect.arrayContaining(['200', ...errors.map(String)]),
      );
    }
    const count = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
    expect(count).toHaveLength(Object.keys(operations).length);
  });

  it('says how every operation is asked, and what it answers', async () => {
    const { wire } = await withService();
    const driven = new Set<string>();
    const step = async (name: string, uuid?: string) => {
      const { answer, operation } = await drive(wire, name, uuid);
      expect(answer.status, name).toBe(200);
      expectDocumented({ answer, operation });
      driven.add(name);
      return answer.json;
    };
    await step('credits');
    const { batch_uuid: uuid } = await step('uploadBatch');
    await step('batchDetails', uuid);
    await step('updateBatch', uuid);
    await step('prepareBatch', uuid);
    await wire.until(uuid, 'ready_for_verification');
    await step('batchStatus', uuid);
    await step('batchDetails', uuid);
    await step('launchBatch', uuid);
    await step('launchBatch', uuid);
    await wire.until(uuid, 'verification_done');
    await step('batchStatus', uuid);
    await step('batchDetails', uuid);
    await step('exportBatch', uuid);
    await step('listBatches');
    await step('format');
    await step('deleteBatch', uuid);
    const unit = described('verifyUnit');
    expectDocumented({
      operation: unit.operation,
      answer: await wire.send('POST', unit.path, { body: '{"email":"good@sluice.test"}' }),
    });
    driven.add('verifyUnit');
    expect([...driven].toSorted()).toEqual(Object.keys(operations).toSorted());
  });

  it.each(Object.keys(operations))('names the errors that %s answers with', async (name) => {
    // No time passes: what is used up stays so.
    const clock = new ServiceClock();
    const { service, wire } = await withService({ emailCredits: 0, rate: 3, clock });
    const seen = new Set<number>();
    const expectError = (outcome: { answer: Answer; operation: Described }) => {
      expectDocumented(outcome);
      seen.add(outcome.answer.status);
    };
    const nowhere = '3f2b8c1e-7a44-4f0e-9a51-0d6f1f0c9b77';
    expectError(await drive(wire, name, nowhere));
    expectError(await drive(wire, name, 'no-uuid', true));
    const stranger = new Wire({ baseUrl: service.baseUrl, apiKey: 'wrong' });
    expectError(await drive(stranger, name, nowhere));
    for (let asked = 0; asked < 2; asked += 1) {
      const outcome = await drive(wire, name, nowhere);
      if (outcome.answer.status === 429) expectError(outcome);
    }
    expect(seen).toContain(429);
  });

  it('says that a launch without credits is 402', async () => {
    const { wire } = await withService({ emailCredits: 0 });
    const uuid = await wire.upload(['good@sluice.test']);
    await wire.prepare(uuid);
    const refused = await drive(wire, 'launchBatch', uuid);
    expect(refused.answer.status).toBe(402);
    expectDocumented(refused);
  });
});
