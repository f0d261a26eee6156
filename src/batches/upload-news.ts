import { uploadedBatch } from '../contract/bodies.js';
import type { News } from './learn.js';

/** What the answer to an upload tells of its batch. */
export function uploadNews(answer: { readonly status: string }): News {
  switch (answer.status) {
    case 'ok':
      return { of: 'upload', status: 'ok', uuid: uuidOf(answer) };
    case 'parse_error':
      return { of: 'upload', status: 'parse_error' };
    case 'error':
      return { of: 'upload', status: 'error' };
    default:
      return { of: 'upload', status: 'unknown' };
  }
}

/** `batch_uuid` is not shown among the fields of the upload answer: read if present. */
function uuidOf(answer: object): string | undefined {
  const parsed = uploadedBatch.safeParse(answer);
  return parsed.success ? parsed.data.batch_uuid : undefined;
}
