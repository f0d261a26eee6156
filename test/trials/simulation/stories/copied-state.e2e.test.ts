import { expect, it } from 'vitest';
import { describeOutage, planCopies, simulateCopy, type CopyStory } from './copied-state.js';

async function troublesOf(stories: readonly CopyStory[]): Promise<readonly string[]> {
  const troubles: string[] = [];
  for (const story of stories) {
    await simulateCopy(story).catch((error: unknown) => {
      troubles.push(describeOutage(story, error));
    });
  }
  return troubles;
}

/**
 * Each moment has up to seven stories: about one of each moment, and of every kind; npm run test:simulation
 * -- --copies plays them all.
 */
function someOf(stories: readonly CopyStory[]): readonly CopyStory[] {
  return stories.filter((_, at) => at % 8 === 0);
}

it('pays once and loses no row at every moment at which its state directory is copied', async () => {
  const stories = await planCopies(1, false);
  expect(stories.length).toBeGreaterThan(100);
  expect(await troublesOf(someOf(stories))).toEqual([]);
});

it('pays once, too, when it deletes its batches, or says that it cannot know', async () => {
  expect(await troublesOf(someOf(await planCopies(3, true)))).toEqual([]);
});
