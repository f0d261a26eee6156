import { expect, test } from 'vitest';
import { SeenKeys } from '../../../../src/lists/sql/tables/validate-rows.js';

test('a key is that of all its columns together', () => {
  const keys = new SeenKeys(['a', 'b']);
  keys.add(['1', '23']);
  keys.add(['12', '3']);
  keys.add(['', '123']);
  expect(() => keys.add(['12', '3'])).toThrow(
    expect.objectContaining({ fault: 'repeated', rows: [2, 4] }),
  );
});
