import { expect, it } from 'vitest';
import { describeTrouble, planCopies, simulateCopy, type CopyStory } from './copied-state.js';

async function troublesOf(stories: readonly CopyStory[]): Promise<readonly string[]> {
  const troubles: string[] = [];
  for (const story of stories) {
    await simulateCopy(story).catch((error: unknown) => {
      troubles.push(describeTrouble(story, error));
    });
  }
  return troubles;
}

it('pays once and loses no row at every moment at which its state directory is copied', async () => {
  const stories = await planCopies(1, false);
  expect(stories.length).toBeGreaterThan(100);
  // Each moment has seven stories; npm run test:simulation -- --copies plays them all.
  expect(await troublesOf(stories.filter((_, at) => at % 3 === 0))).toEqual([]);
}, 120_000);

it('pays once, too, when it deletes its batches, or says that it cannot know', async () => {
  const stories = (await planCopies(3, true)).filter((_, at) => at % 3 === 0);
  expect(await troublesOf(stories)).toEqual([]);
}, 120_000);
