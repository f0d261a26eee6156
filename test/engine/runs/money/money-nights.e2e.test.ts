import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isSluiceError } from '../../../../src/platform/errors/is-sluice-error.js';
import { estimateRun } from '../../../../src/engine/runs/estimate.js';
import { readStoppedRun } from '../../../../src/engine/runs/reporting/read-status.js';
import { run } from '../../../../src/engine/runs/run.js';
import { createFastClock } from '../../../../src/testing/test-clock.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { Random } from '../../../trials/simulation/random.js';
import { openClient } from '../../../client/test-client.js';

/** What a night's options and list are drawn from. */
function draw(random: Random) {
  return {
    size: random.between(8, 60),
    from: random.chance(1 / 3) ? random.between(0, 6) : 0,
    maxCredits: random.chance(1 / 3) ? undefined : random.between(0, 40),
    concurrency: random.pick([1, 4, 32]),
    partial: random.chance(1 / 4),
    detach: random.chance(1 / 5),
    deleteBatches: random.chance(1 / 4),
  };
}

const seeds = Array.from({ length: Number(process.env['NIGHTS'] ?? 5) }, (_, seed) => seed + 1);

it.each(seeds)('the ledger is what nights say that they cost, seed %i', async (seed) => {
  const random = new Random(seed);
  const folder = await withFolder();
  const { service } = await withService({ apiKey: 'a-key', verifyDelayMs: 2 });
  const client = openClient(service);
  const stateDir = join(folder, 'run');
  const clock = createFastClock(20);
  const spent = async (): Promise<number> => {
    let sum = 0;
    for await (const { credits } of service.ledger()) sum += credits;
    return sum;
  };
  /** By the ledger, when the latest run that has ended ended. */
  let before = 0;
  for (let night = 0; night < 6; night += 1) {
    const { size, from, ...drawn } = draw(random);
    const rows = Array.from({ length: size }, (_, id) =>
      (id + from) % 4 === 3 ? `wrong${id + from}@@sluice.test` : `good${id + from}@sluice.test`,
    );
    await writeFile(join(folder, 'list.csv'), ['email', ...rows, ''].join('\n'));
    const list = {
      source: join(folder, 'list.csv'),
      sink: join(folder, 'out.csv'),
      email: ['email'],
      country: 'US',
      batchSize: 5,
      onChange: 'carry' as const,
      // Refunds would be told of earlier runs alone.
      settings: { use_account_cache: false, use_global_cache: false },
      stateDir,
      client,
    };
    const { maxCredits = Infinity, partial } = drawn;
    const dry = { maxCredits: drawn.maxCredits, partial };
    const { email } = await estimateRun({ ...list, ...dry });
    const paid = await spent();
    const end = await run({ ...list, ...drawn, clock, pollIntervalMs: 100 }).catch(
      (error: unknown) => error,
    );
    const now = await spent();
    const reported = `seed ${seed}, night ${night}: ${JSON.stringify({ size, from, ...drawn })}`;
    expect(now - paid, reported).toBeLessThanOrEqual(Math.min(email?.credits ?? 0, maxCredits));
    if (isSluiceError(end, 'budget_exhausted') || isSluiceError(end, 'detached')) {
      const { credits, creditsBefore, status } = await readStoppedRun(stateDir);
      const charged = (credits.email?.spent ?? 0) + (creditsBefore?.email ?? 0);
      // A launch that is left to the service counts with its addresses.
      if (status.running === 0) expect(charged, reported).toBe(now - before);
      else expect(charged, reported).toBeGreaterThanOrEqual(now - before);
      continue;
    }
    expect(end, reported).not.toBeInstanceOf(Error);
    const {
      credits,
      credits_before: earlier,
      email: figures,
    } = end as Awaited<ReturnType<typeof run>>;
    const charged = (credits.email?.spent ?? 0) + (earlier?.email ?? 0);
    // A launch that is left to the service counts with its addresses.
    if (credits.email?.source === 'cost_objects') expect(charged, reported).toBe(now - before);
    else {
      expect(charged, reported).toBeGreaterThanOrEqual(now - before);
      expect(credits.email, reported).toMatchObject({ source: 'launched', net: null });
      expect(drawn, reported).toMatchObject({ partial: true, detach: true });
    }
    if ((figures?.reasons['not_finished'] ?? 0) === 0) before = now;
  }
});
