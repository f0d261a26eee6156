import { expect, it } from 'vitest';
import { Router } from '../../../src/service/http/dispatch.js';

it.each([
  '/v1/batch?limit=2',
  'http://localhost:8080/v1/batch?limit=2',
  'HTTPS://a.b/v1/batch?limit=2',
])('a request may name the server beside the path: %s', (target) => {
  const route = { method: 'GET', path: '/v1/batch', keyed: true, handle: 'list' };
  const match = new Router([route]).match('GET', target);
  expect([match.route, match.query.get('limit')]).toEqual([route, '2']);
});
