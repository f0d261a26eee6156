import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLaunched } from '../../../../src/engine/batches/uploads/delete-uploads.js';
import {
  mayHaveLaunched,
  planned,
  type BatchState,
} from '../../../../src/engine/batches/batch-state.js';
import {
  adoptUploads,
  type BatchUpload,
} from '../../../../src/engine/batches/uploads/adopt-uploads.js';

const bounded = { fresh: 0, uploads: 1, misses: 0, prepares: 0, launches: 0 };
const elected = { ...bounded, uuid: 'own', isFound: false, attempt: 1, doubt: false };
const ready: BatchState = { ...elected, stage: 'ready' };
const verifying: BatchState = { ...elected, stage: 'verifying', readies: 0 };

function upload(uuid: string, status: string, attempt = 1, at = 0): BatchUpload {
  const createdAt = new Date(at).toISOString();
  return { uuid, name: uuid, attempt, status, createdAt };
}

describe('adoptUploads', () => {
  it('goes on with what is launched, before the own upload that is not', () => {
    const ongoing = upload('other', 'verification_ongoing');
    expect(adoptUploads(ready, [upload('own', 'ready_for_verification'), ongoing])).toMatchObject({
      stage: 'verifying',
      uuid: 'other',
    });
    const done = upload('third', 'verification_done', 2);
    expect(adoptUploads(ready, [ongoing, done])).toMatchObject({ stage: 'done', uuid: 'third' });
    expect(adoptUploads(planned, [ongoing])).toMatchObject({ stage: 'verifying', uuid: 'other' });
  });

  it('keeps its own that is launched, and what has ended', () => {
    const others = [upload('own', 'verification_ongoing'), upload('other', 'verification_done')];
    expect(adoptUploads(verifying, others)).toBe(verifying);
    const exported: BatchState = { ...elected, stage: 'exported' };
    expect(adoptUploads(exported, others)).toBe(exported);
    const { attempt, fresh, uploads } = elected;
    const failed = { stage: 'failed', uuid: 'own', attempt, fresh, uploads } as const;
    const doubtful: BatchState = { ...failed, reason: 'export_foreign', launched: true };
    expect(adoptUploads(doubtful, [upload('own', 'verification_done')])).toBe(doubtful);
    const refused: BatchState = { ...failed, reason: 'parse_error', launched: false };
    expect(adoptUploads(refused, [upload('own', 'expired')])).toBe(refused);
    const broken: BatchState = { ...failed, reason: 'internal_error', launched: true };
    expect(adoptUploads(broken, [upload('own', 'internal_error')])).toBe(broken);
    expect(adoptUploads(broken, [upload('own', 'verification_done')])).toMatchObject({
      stage: 'done',
      uuid: 'own',
    });
    const missing: BatchState = { ...failed, reason: 'batch_missing', launched: true };
    expect(adoptUploads(missing, [upload('own', 'verification_done')])).toMatchObject({
      stage: 'done',
    });
  });

  it('elects the newest attempt, and of one attempt the oldest upload, as every process does', () => {
    const uploads = [
      upload('b', 'ready_for_verification', 2, 20),
      upload('a', 'parsing_content', 2, 30),
      upload('own', 'ready_for_verification', 1, 10),
    ];
    expect(adoptUploads(ready, uploads)).toMatchObject({ stage: 'ready', uuid: 'b', attempt: 2 });
    // What an attempt that was given up has left is an orphan.
    const later: BatchState = { ...planned, attempt: 3 };
    expect(adoptUploads(later, uploads)).toBe(later);
  });

  it('gives no name twice', () => {
    const uploads = [upload('a', 'internal_error', 4)];
    expect(adoptUploads({ ...planned, attempt: 2 }, uploads)).toMatchObject({ attempt: 5 });
  });

  it('takes a batch of a copied state that broke for one that may be paid', () => {
    const uploads = [upload('own', 'internal_error')];
    expect(adoptUploads(ready, uploads)).toBe(ready);
    expect(adoptUploads(ready, uploads, true)).toMatchObject({ stage: 'failed', launched: true });
  });

  it('never leaves a batch to be launched of which the list has a launched upload', () => {
    const status = fc.constantFrom(
      'parsing_content',
      'ready_for_verification',
      'internal_error',
      'verification_ongoing',
      'verification_done',
    );
    const anyUpload = fc
      .record({
        uuid: fc.constantFrom('own', 'a', 'b'),
        status,
        attempt: fc.integer({ min: 1, max: 3 }),
      })
      .map(({ uuid, status: word, attempt }) => upload(uuid, word, attempt));
    const uploads = fc.uniqueArray(anyUpload, { selector: ({ uuid }) => uuid });
    const states: readonly BatchState[] = [
      planned,
      { ...planned, attempt: 3 },
      { stage: 'uploading', attempt: 2, fresh: 0, uploads: 1, accepted: false, looks: 0 },
      { ...elected, stage: 'uploaded' },
      ready,
      { ...elected, stage: 'launching', answeredError: false },
      verifying,
    ];
    fc.assert(
      fc.property(fc.constantFrom(...states), uploads, fc.boolean(), (state, listed, isCopied) => {
        const learned = adoptUploads(state, listed, isCopied);
        if (!listed.some((each) => isLaunched(each.status))) return;
        expect(mayHaveLaunched(learned)).toBe(true);
        expect(['verifying', 'done', 'launching']).toContain(learned.stage);
      }),
    );
  });
});
