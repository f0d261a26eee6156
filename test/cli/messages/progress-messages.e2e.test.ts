import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HeldUpBatches } from '../../../src/cli/messages/progress-messages.js';
import type { BatchState, RunProgress } from '../../../src/index.js';
import { withFolder, withService } from '../../service/with-service.js';
import { chargesOf } from '../harness/charges.js';
import { inFolder } from '../harness/connect-to.js';
import { startFront } from '../harness/front.js';
import { batchProgress, life } from '../terminal/batch-life.js';
import { runInProcess } from '../harness/run-in-process.js';
import { verifyByTens } from '../verify/resume/verify-by-tens.js';
import { eventsOf } from '../harness/logged-events.js';

const reported = (id: number, state: BatchState): Extract<RunProgress, { stage: 'batch' }> =>
  batchProgress(id, state) as Extract<RunProgress, { stage: 'batch' }>;

function at<Stage extends BatchState['stage']>(
  stage: Stage,
  fields: Partial<Extract<BatchState, { stage: Stage }>>,
): BatchState {
  return { ...life.find((state) => state.stage === stage), ...fields } as BatchState;
}

describe('a batch that is held up', () => {
  it.each([
    ['not_found', at('verifying', { misses: 3 })],
    ['not_found', at('done', { misses: 4 })],
    ['not_uploaded', at('uploading', { looks: 3 })],
    ['not_prepared', at('uploaded', { prepares: 3 })],
    ['not_launched', at('parsing', { launches: 3 })],
    ['broken_export', at('done', { broken: 3 })],
  ])('is reported by its cause: %s', (reason, state) => {
    const printed = new HeldUpBatches().note(reported(1, state), 0);
    expect(printed?.fields).toMatchObject({ reason, stage: state.stage, name: 'sluice-run-1-1' });
  });

  it('is not warned of after an answer or two, nor while all goes well', () => {
    const heldUp = new HeldUpBatches();
    const fine = [...life, at('verifying', { misses: 2 }), at('done', { broken: 2 })];
    expect(fine.map((state) => heldUp.note(reported(1, state), 0))).toEqual(
      fine.map(() => undefined),
    );
  });

  it('is reported once a minute for each cause, however many batches wait', () => {
    const heldUp = new HeldUpBatches();
    const missing = at('verifying', { misses: 5 });
    const reasons = [
      heldUp.note(reported(1, missing), 0),
      heldUp.note(reported(2, missing), 59_000),
      heldUp.note(reported(3, at('done', { broken: 3 })), 59_000),
      heldUp.note(reported(2, missing), 60_000),
    ].map((text) => text?.fields?.['reason']);
    expect(reasons).toEqual(['not_found', undefined, 'broken_export', 'not_found']);
  });

  it('is reported while the service answers 404 for it, and the run goes on', async () => {
    const { service } = await withService();
    const folder = await withFolder();
    await writeFile(join(folder, 'list.csv'), 'id,email\n1,good1@sluice.test\n');
    let left = 4;
    const front = await startFront(service, (request) => {
      if (!/^GET \/v1\/batch\/./.test(request) || left === 0) return undefined;
      left -= 1;
      return { status: 404, body: { message: 'not found' } };
    });
    const ended = await runInProcess(verifyByTens, inFolder(folder, front));
    expect(ended.code, ended.stderr).toBe(0);
    expect(eventsOf(ended, 'batch_waiting')).toMatchObject([{ reason: 'not_found' }]);
    expect(await chargesOf(service)).toHaveLength(1);
  });
});
