import { expect, it } from 'vitest';
import { cellForm } from '../../../src/engine/addresses/cell-form.js';

it.each([
  ['ada@example.com', undefined],
  ['mailto:ada@example.com', 'mailto'],
  ['Ada <ada@example.com>', 'named'],
  ['ada@example.com; bob@example.com', 'several'],
  ['ada@example.com / bob@example.com', 'several'],
  ['ada@example.com.', 'beside'],
  ["'ada@example.com", 'beside'],
  ['ada@example.com (work)', 'beside'],
  ['mail: ada@example.com', 'beside'],
  ['ada', 'no_at'],
  ['ada.example.com', 'no_at'],
  ["o'brien@example.com", undefined],
  ['ada@@example.com', undefined],
  ['ada@example', undefined],
])('says how the email cell %j is written', (cell, form) => {
  expect(cellForm('email', cell)).toBe(form);
});

it.each([
  ['+49 30 901820', undefined],
  ['030/901820', undefined],
  ['+49 170 1234567 ::: +49 30 901820', 'several'],
  ['2025550123 / 2025550124', 'several'],
  ['030/901820 oder 0170 1234567', 'several'],
  ['+49 30 901820 ext. 7', 'extension'],
  ['(202) 555-0123 x12', 'extension'],
  ['1-800-FLOWERS', undefined],
  ['call me', undefined],
])('says how the phone cell %j is written', (cell, form) => {
  expect(cellForm('phone', cell)).toBe(form);
});
