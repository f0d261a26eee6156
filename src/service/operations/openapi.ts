import { ok } from '../http/reply.js';
import { openapiDocument } from '../openapi/openapi-document.js';
import type { Handler } from './operation.js';

let made: unknown;

/** `GET /openapi.json`: the interface as a document. It tells nothing of an account: no key is asked. */
export const openapi: Handler = async () => ok((made ??= openapiDocument()));
