import { describe, it } from 'vitest';
import { expectOffers, fish, zsh } from './offered-by-shells.js';

describe('completion', () => {
  it.each([
    ['zsh', zsh],
    ['fish', fish],
  ])('offers what %s itself asks for: commands, options, words', (_, completer) =>
    expectOffers(completer),
  );
});
