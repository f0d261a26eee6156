import type { Answer } from './exchange.js';

/** The service deviates from a clause. */
export class Deviation extends Error {}

/** The occasion of a clause did not come. */
export class NotReached extends Error {}

export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Deviation(otherwise);
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(answer: Answer, what: string): JsonObject {
  expectThat(answer.status === 200, `${what}: status ${answer.status}`);
  expectThat(/^application\/json\b/.test(answer.contentType), `${what}: no application/json`);
  return asObject(answer.json, what);
}

export function asObject(value: unknown, what: string): JsonObject {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) throw new Deviation(`${what}: no JSON object`);
  return value as JsonObject;
}

/** A body that must be a JSON array of objects. */
export function arrayOf(answer: Answer, what: string): readonly JsonObject[] {
  expectThat(answer.status === 200, `${what}: status ${answer.status}`);
  if (!Array.isArray(answer.json)) throw new Deviation(`${what}: no JSON array`);
  return answer.json.map((item) => asObject(item, what));
}

/** Required fields and the types that they must have. */
export function expectFields(
  object: JsonObject,
  fields: Readonly<Record<string, string>>,
  what: string,
): void {
  for (const [name, type] of Object.entries(fields)) {
    expectThat(Object.hasOwn(object, name), `${what}: ${name} is missing`);
    const value = object[name];
    expectThat(isOf(value, type), `${what}: ${name} is not of the type ${type}`);
  }
}

function isOf(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'uuid':
      return typeof value === 'string' && uuid.test(value);
    case 'date-time':
      return typeof value === 'string' && dateTime.test(value) && !Number.isNaN(Date.parse(value));
    case 'string or null':
      return value === null || typeof value === 'string';
    default:
      return typeof value === type;
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** RFC 3339, with an optional offset, as some services omit it. */
const dateTime = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?$/;

/** "400 Bad Request" or "422 Validation Error": when each occurs is not shown. */
export function expectRefused(answer: Answer, what: string): void {
  const isRefused = answer.status === 400 || answer.status === 422;
  expectThat(isRefused, `${what}: taken, with status ${answer.status}`);
}

export function expectTaken(answer: Answer, what: string): void {
  expectThat(answer.status === 200, `${what}: refused, with status ${answer.status}`);
}

/** Every object within a body that has a field of that name. */
export function objectsWith(value: unknown, field: string): readonly JsonObject[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap((item) => objectsWith(item, field));
  return Object.hasOwn(value, field) ? [value as JsonObject, ...inside] : inside;
}
