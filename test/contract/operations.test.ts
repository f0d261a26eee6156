import { describe, expect, it } from 'vitest';
import {
  baseDetails,
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
} from '../../src/contract/bodies.js';
import {
  apiKeyHeader,
  interfaceVersion,
  operations,
  type Operation,
} from '../../src/contract/operations.js';
import {
  batchParameters,
  exportQuery,
  formatForm,
  listQuery,
  unitRequest,
  uploadForm,
} from '../../src/contract/parameters.js';

const table: Readonly<Record<string, Operation>> = operations;

describe('operations (spec 4)', () => {
  it('are the twelve that are shown', () => {
    const lines = Object.entries(table).map(([name, { method, path }]) => [name, method, path]);
    expect(lines).toEqual([
      ['credits', 'GET', '/v1/account/credits'],
      ['listBatches', 'GET', '/v1/batch'],
      ['uploadBatch', 'POST', '/v1/batch'],
      ['batchStatus', 'GET', '/v1/batch/{batch_uuid}'],
      ['updateBatch', 'PUT', '/v1/batch/{batch_uuid}'],
      ['prepareBatch', 'PATCH', '/v1/batch/{batch_uuid}'],
      ['launchBatch', 'POST', '/v1/batch/{batch_uuid}'],
      ['deleteBatch', 'DELETE', '/v1/batch/{batch_uuid}'],
      ['exportBatch', 'GET', '/v1/batch/{batch_uuid}/export'],
      ['batchDetails', 'GET', '/v1/batch/{batch_uuid}/details'],
      ['verifyUnit', 'POST', '/v1/unit'],
      ['format', 'POST', '/v1/format'],
    ]);
  });

  it('carry the key, but for the format operation (note 5)', () => {
    const unkeyed = Object.keys(table).filter((name) => table[name]?.keyed === false);
    expect(unkeyed).toEqual(['format']);
  });

  it('have a query for the list and the export alone', () => {
    const queried = Object.keys(table).filter((name) => table[name]?.query !== undefined);
    expect(queried).toEqual(['listBatches', 'exportBatch']);
    expect(operations.listBatches.query).toBe(listQuery);
    expect(operations.exportBatch.query).toBe(exportQuery);
  });

  it('send a body where one is shown', () => {
    const bodies = Object.entries(table).flatMap(([name, { request }]) =>
      request.kind === 'none' ? [] : [[name, request.kind, request.schema]],
    );
    expect(bodies).toEqual([
      ['uploadBatch', 'multipart', uploadForm],
      ['updateBatch', 'json', batchParameters],
      ['verifyUnit', 'json', unitRequest],
      ['format', 'multipart', formatForm],
    ]);
  });

  it('answer with what is shown', () => {
    const answers = Object.entries(table).flatMap(([name, { response }]) =>
      response.kind === 'json' ? [[name, response.schema]] : [],
    );
    expect(answers).toEqual([
      ['credits', creditBalance],
      ['listBatches', batchList],
      ['uploadBatch', uploadAnswer],
      ['batchStatus', batchStatusAnswer],
      ['updateBatch', successAnswer],
      ['prepareBatch', prepareAnswer],
      ['launchBatch', launchAnswer],
      ['deleteBatch', successAnswer],
      ['batchDetails', batchDetails],
      ['verifyUnit', unitAnswer],
      ['format', formatAnswer],
    ]);
    expect(batchDetails).not.toBe(baseDetails);
  });

  it('export JSON or a spreadsheet', () => {
    expect(operations.exportBatch.response).toEqual({
      kind: 'export',
      contentTypes: {
        json: 'application/json',
        xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      },
    });
  });

  it('document the errors of spec 7: 402 where credits are spent, and fewer without a key', () => {
    const keyed = [400, 401, 403, 404, 422, 429, 500];
    const paid = [400, 401, 402, 403, 404, 422, 429, 500];
    const errors = Object.fromEntries(
      Object.entries(table).map(([name, operation]) => [name, operation.errors]),
    );
    expect(errors).toEqual({
      credits: keyed,
      listBatches: keyed,
      uploadBatch: keyed,
      batchStatus: keyed,
      updateBatch: keyed,
      prepareBatch: keyed,
      launchBatch: paid,
      deleteBatch: keyed,
      exportBatch: keyed,
      batchDetails: keyed,
      verifyUnit: paid,
      format: [400, 404, 422, 429, 500],
    });
  });

  it('are repeatable unless they make or spend something', () => {
    const once = Object.keys(table).filter((name) => table[name]?.repeatable === false);
    expect(once).toEqual(['uploadBatch', 'launchBatch', 'verifyUnit']);
  });

  it('have a method and a path of their own', () => {
    const lines = Object.values(table).map(({ method, path }) => `${method} ${path}`);
    expect(new Set(lines).size).toBe(12);
    for (const { path } of Object.values(table)) expect(path).toMatch(/^\/v1\//);
  });
});

it('names the header of the key (spec 5) in the case that Node reads it in', () => {
  expect(apiKeyHeader).toBe('X-Api-Key'.toLowerCase());
});

it('carries the version of the interface description (spec 9)', () => {
  expect(interfaceVersion).toBe('1.0.0');
});
